import { PosthornError } from '../errors.ts';

/** `what` is a noun with its article's place taken: `missing('application', id)`. The id is cut, it may be anything. */
export function missing(what: string, idOrName: string, hint = ''): PosthornError {
  const shown = JSON.stringify(idOrName.length > 80 ? `${idOrName.slice(0, 80)}…` : idOrName);
  return new PosthornError('not_found', `There is no ${what} ${shown}${hint && `; ${hint}`}`);
}

export function taken(what: string, name: string): PosthornError {
  return new PosthornError('conflict', `${what} ${JSON.stringify(name)} already exists; choose another or update it`);
}

/** Another node did the same request in the same moment. */
export function doneAlready(): PosthornError {
  return new PosthornError(
    'conflict',
    'A request with this idempotency key has just been done by another node; send it again to get its answer',
  );
}
