/** How a setting's text becomes its value. A parser answers; it never throws. */
import { isIP } from 'node:net';
import { closest } from '../policy/index.ts';

/** `refused` completes the sentence `POSTHORN_PORT="80a" …`. */
export type Parsed<T> = { readonly value: T } | { readonly refused: string };
export type Parser<T> = (text: string) => Parsed<T>;

/** Plain decimal digits: `0x50`, `1e3` and ` 80` are slips more often than wishes. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): Parser<number> {
  const allowed = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
  return (text) => {
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    // Written so that a NaN is refused; + 0 turns -0 into 0.
    return value >= min && value <= max ? { value: value + 0 } : { refused: `must be a whole number, ${allowed}` };
  };
}

export function oneOf<T extends string>(choices: readonly T[]): Parser<T> {
  return (text) => {
    const value = choices.find((choice) => choice === text);
    if (value !== undefined) return { value };
    const near = closest(text, choices);
    return { refused: `must be one of ${choices.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}` };
  };
}

export const trueOrFalse: Parser<boolean> = (text) =>
  text === 'true' || text === 'false' ? { value: text === 'true' } : { refused: 'must be true or false' };

/** A host name or an IP address to listen on, without scheme or port. */
export const hostName: Parser<string> = (text) =>
  isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text)
    ? { value: text }
    : { refused: 'must be a host name or an IP address alone, such as 127.0.0.1, 0.0.0.0 or ::1' };

/** A URL that paths are put after: its own slash at the end goes, and a query or fragment has no place. */
export const baseUrl: Parser<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBase = url !== undefined && /^https?:$/.test(url.protocol) && url.search + url.hash + url.username === '';
  return isBase
    ? { value: url.href.replace(/\/+$/, '') }
    : { refused: 'must be an http or https URL without a query, such as https://hooks.example.com' };
};

const SHORTEST_SECRET = 16;

/** Something nobody guesses; `openssl rand` is on every machine that has a shell. */
export const secretText: Parser<string> = (text) =>
  text.length >= SHORTEST_SECRET
    ? { value: text }
    : { refused: `must have at least ${SHORTEST_SECRET} characters; \`openssl rand -hex 32\` makes one` };

/** A secret that also fits into an `Authorization` header. */
export const bearerToken: Parser<string> = (text) =>
  /^[A-Za-z0-9._~+/=-]*$/.test(text)
    ? secretText(text)
    : { refused: 'must consist of letters, digits and . _ ~ + / = - alone, because it travels in a header' };

export const networks: Parser<readonly string[]> = (text) => {
  if (text === '') return { value: [] };
  const cidrs = text.split(',').map((part) => part.trim());
  const wrong = cidrs.filter((cidr) => !isNetwork(cidr));
  if (wrong.length === 0) return { value: cidrs };
  const named = wrong.map((cidr) => JSON.stringify(cidr)).join(', ');
  return {
    refused: `must be networks separated by commas, such as 10.0.0.0/8,fd12:3456::/32, or single addresses; ${named} is none`,
  };
};

/** What keys in Redis begin with. Without one {tag} a cluster would spread a queue's keys over nodes and refuse them. */
export const redisPrefix: Parser<string> = (text) =>
  /^[A-Za-z0-9._-]*\{[A-Za-z0-9._-]+\}[A-Za-z0-9._-]*$/.test(text)
    ? { value: text }
    : {
        refused: 'must be letters, digits and . _ - with one part in braces, such as {posthorn} or {staging-posthorn}',
      };

function isNetwork(cidr: string): boolean {
  const [, address = '', prefix] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(cidr) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(prefix ?? 0) <= (version === 4 ? 32 : 128);
}
