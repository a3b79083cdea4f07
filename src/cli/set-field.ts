/** `--set data.object.amount_paid=500`: one field of a sample's body, JSON or a form. */
import { PosthornError } from '../errors.ts';
import type { InboundRequest } from '../inbound/providers/index.ts';
import { closest } from '../policy/index.ts';

type Fields = Record<string, unknown>;

export function withFields(request: InboundRequest, assignments: readonly string[]): InboundRequest {
  if (assignments.length === 0) return request;
  const text = Buffer.from(request.body).toString('utf8');
  const pairs = assignments.map((assignment) => nameAndValue(assignment, '--set'));
  if (request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
    const form = new URLSearchParams(text);
    for (const [name, value] of pairs) form.set(name, value);
    return { ...request, body: Buffer.from(form.toString()) };
  }
  const body = JSON.parse(text) as Fields;
  for (const [path, value] of pairs) setAt(body, path, readValue(value));
  return { ...request, body: Buffer.from(JSON.stringify(body)) };
}

/** `name=value`; the value may hold more of "=". */
export function nameAndValue(text: string, option: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new PosthornError('validation', `${option} ${JSON.stringify(text)} must be written as name=value`);
}

/** The last name may be new; one on the way to it that is not there is misspelt. */
function setAt(body: Fields, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let place = body;
  for (const name of names) {
    const next = Object.hasOwn(place, name) ? place[name] : undefined;
    if (typeof next !== 'object' || next === null) throw noSuchField(path, name, Object.keys(place));
    place = next as Fields;
  }
  Object.defineProperty(place, last, { value, enumerable: true, configurable: true, writable: true });
}

function noSuchField(path: string, name: string, known: readonly string[]): PosthornError {
  const near = closest(name, known);
  const hint = near === undefined ? `there are ${known.join(', ')}` : `did you mean ${near}?`;
  return new PosthornError('validation', `--set ${path}: the sample has no ${name} with fields in it; ${hint}`);
}

/** 5, true, null, [1] and {"a":1} are what they look like; anything else is text. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
