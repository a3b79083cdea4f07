/** Whether a request came by a URL of its source: the plain one, or the one with the token. */
import type { OpenUrlToken } from '../resources/index.ts';
import { isOneOf, textDigest } from './providers/index.ts';

/** Why what follows the source in the URL is not good now, for the log; undefined when it is. */
export type UrlCheck = (given: string, now: number) => string | undefined;

export function createUrlCheck(tokens: readonly OpenUrlToken[] | undefined): UrlCheck {
  if (tokens === undefined) return (given) => (given === '' ? undefined : 'its URL has no token, and this one has');
  const known = tokens.map(({ token, expiresAt = Number.POSITIVE_INFINITY }) => ({
    digest: textDigest(token),
    expiresAt,
  }));
  return (given, now) => {
    const digests = (live: boolean) => known.flatMap((each) => (each.expiresAt > now === live ? [each.digest] : []));
    if (isOneOf(given, digests(true))) return undefined;
    if (isOneOf(given, digests(false))) return 'this URL was replaced by one with a new token, and its time is over';
    return given === '' ? 'its URL has a token, and this one has none' : 'the token in the URL is not its token';
  };
}
