import { createHash, timingSafeEqual } from 'node:crypto';

/** Digests have one length, so that neither the content nor the length of a secret shows in the time this takes. */
export function textDigest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Whether `text` is one of the texts whose digests these are. Compares with each of them, whichever matches. */
export function isOneOf(text: string, digests: readonly Buffer[]): boolean {
  const actual = textDigest(text);
  let found = false;
  for (const digest of digests) found = timingSafeEqual(actual, digest) || found;
  return found;
}
