/** The rules for custom headers: what may be sent in our name, and what is not shown again. */
import { invalid } from '../errors.ts';

export type Headers = Readonly<Record<string, string>>;
type Loc = readonly string[];

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MAX_NAME_LENGTH = 256;
const MAX_VALUE_LENGTH = 4096;
const MAX_HEADERS = 100;

/** These belong to the connection, to the body or to the signature; another value would break or forge the request. */
const FORBIDDEN = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'origin',
  'proxy-authenticate',
  'proxy-connection',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
]);
const FORBIDDEN_PREFIXES = ['webhook-', 'x-webhook-', 'svix-', 'x-svix-', 'x-forwarded-', 'sec-'];
const SENSITIVE = /authorization|cookie|api-?key|token|secret|passw|credential|signature|auth$/i;
const REDACTED = '<redacted>';

export function checkHeaders(headers: Headers, loc: Loc): Headers {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    checkHeaderName(name, [...loc, name]);
    checkHeaderValue(value, [...loc, name]);
    if (seen.has(name.toLowerCase())) throw invalid([...loc, name], 'is given twice, in another spelling');
    seen.add(name.toLowerCase());
  }
  if (seen.size > MAX_HEADERS) throw invalid(loc, `must be at most ${MAX_HEADERS} headers, not ${seen.size}`);
  return { ...headers };
}

/** `changes` over `headers`, whatever the case of the names; null takes a header away. */
export function mergeHeaders(headers: Headers, changes: Readonly<Record<string, string | null>>, loc: Loc): Headers {
  const given = Object.entries(changes);
  for (const [name] of given) checkHeaderName(name, [...loc, name]);
  const replaced = new Set(given.map(([name]) => name.toLowerCase()));
  const kept = Object.entries(headers).filter(([name]) => !replaced.has(name.toLowerCase()));
  const added = given.filter((entry): entry is [string, string] => entry[1] !== null);
  // Twice in two spellings is seen only here, before the entries become one object.
  return checkHeaders(Object.fromEntries([...kept, ...added]), loc);
}

/** The headers as they are shown, and the names of those whose values are not. */
export function redactHeaders(headers: Headers): { headers: Record<string, string>; sensitive: string[] } {
  const entries = Object.entries(headers);
  return {
    headers: Object.fromEntries(entries.map(([name, value]) => [name, SENSITIVE.test(name) ? REDACTED : value])),
    sensitive: entries.map(([name]) => name).filter((name) => SENSITIVE.test(name)),
  };
}

function checkHeaderName(name: string, loc: Loc): void {
  if (name.length > MAX_NAME_LENGTH || !TOKEN.test(name)) throw invalid(loc, 'is not a header name');
  const lower = name.toLowerCase();
  if (FORBIDDEN.has(lower) || FORBIDDEN_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    throw invalid(loc, 'is set by Posthorn or by the connection and cannot be chosen');
  }
}

function checkHeaderValue(value: string, loc: Loc): void {
  if (typeof value !== 'string') throw invalid(loc, 'must be a string', 'type_error');
  if (value.length > MAX_VALUE_LENGTH) throw invalid(loc, `must be at most ${MAX_VALUE_LENGTH} characters`);
  // What is not Latin-1 cannot be sent, and a line break would begin another header.
  if (!/^[\x20-\x7e\xa0-\xff]*$/.test(value)) {
    throw invalid(loc, 'must be printable Latin-1: no line breaks or other control characters, nothing beyond ÿ');
  }
}
