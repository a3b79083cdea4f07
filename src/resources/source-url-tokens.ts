/**
 * The token in a source's URL: who does not know it does not reach the source. There is none until the first rotation;
 * after each, the URL before goes on working for a while, so that it can be changed at the provider in between.
 */
import { PosthornError } from '../errors.ts';
import { randomSecret } from '../ids.ts';
import type { Source, UrlToken } from '../model/index.ts';
import type { SecretBox } from '../signing/index.ts';

/** What Svix promises of a URL that was replaced. */
const GRACE_MS = 48 * 60 * 60 * 1000;
const TOKEN_BYTES = 24;
/** Each of them is a URL that still works, and is compared with on every request. */
const MAX_OLD = 10;

export interface OpenUrlToken {
  /** Empty for the plain URL. */
  readonly token: string;
  readonly expiresAt?: number;
}

/** A URL of before a rotation that is still taken. What it was is not told again. */
export interface FormerUrl {
  /** False: the plain URL. */
  readonly hasToken: boolean;
  readonly expiresAt: number;
}

export interface RotateUrlOptions {
  /** The new URL alone is taken, from now on: for one that has become known to somebody. */
  readonly dropOld?: boolean;
}

/** Those that are to be stored after a rotation: a new one, and what still works. */
export function rotateUrlToken(
  box: SecretBox,
  { urlTokens = [{}] }: Source,
  now: number,
  { dropOld = false }: RotateUrlOptions,
): readonly UrlToken[] {
  const fresh = { token: box.seal(randomSecret(TOKEN_BYTES).toString('base64url')) };
  if (dropOld) return [fresh];
  const old = urlTokens
    .map((each) => ({ ...each, expiresAt: each.expiresAt ?? now + GRACE_MS }))
    .filter(({ expiresAt }) => expiresAt > now);
  if (old.length > MAX_OLD) {
    throw new PosthornError(
      'limit_reached',
      `A source may have ${MAX_OLD} old URLs that still work, for 48 hours each: wait until one has ended, or drop them all (dropOld)`,
    );
  }
  return [fresh, ...old];
}

/** The newest first; undefined where the plain URL is the only one. */
export function openUrlTokens(box: SecretBox, { urlTokens }: Source): readonly OpenUrlToken[] | undefined {
  return urlTokens?.map((each) => ({ ...each, token: each.token === undefined ? '' : box.open(each.token) }));
}

/** Those that still work, the latest replaced first. */
export function formerUrls({ urlTokens = [] }: Source, now: number): readonly FormerUrl[] {
  return urlTokens.flatMap(({ token, expiresAt }) =>
    expiresAt !== undefined && expiresAt > now ? [{ hasToken: token !== undefined, expiresAt }] : [],
  );
}
