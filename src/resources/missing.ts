import { PosthornError } from '../errors.ts';
import { PROVIDERS } from '../inbound/providers/index.ts';

/** `what` is a noun with its article's place taken: `missing('application', id)`. The id is cut, it may be anything. */
export function missing(what: string, idOrName: string, hint = ''): PosthornError {
  const shown = JSON.stringify(idOrName.length > 80 ? `${idOrName.slice(0, 80)}…` : idOrName);
  return new PosthornError('not_found', `There is no ${what} ${shown}${hint && `; ${hint}`}`);
}

/** A source is most often called as its provider is. */
export function missingSource(idOrUid: string): PosthornError {
  if (idOrUid.startsWith('src_')) return missing('source', idOrUid, '`posthorn sources list` shows those there are');
  const isProvider = PROVIDERS.some(({ name, aliases }) => name === idOrUid || aliases.includes(idOrUid));
  const create = isProvider ? idOrUid : `<provider> --uid ${/^[\w.-]{1,80}$/.test(idOrUid) ? idOrUid : '<name>'}`;
  return missing('source', idOrUid, `make it: posthorn sources create ${create}`);
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
