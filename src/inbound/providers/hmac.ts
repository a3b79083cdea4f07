import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Encoding } from './encoded.ts';

export type HmacAlgorithm = 'sha1' | 'sha256' | 'sha384' | 'sha512';

/** What is signed, piece by piece: the body is hashed where it is, without a copy. */
export type Content = readonly (string | Uint8Array)[];

export const DIGEST_BYTES: Readonly<Record<HmacAlgorithm, number>> = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };

export function hmacKeys(secrets: readonly string[], encoding: 'utf8' | Encoding = 'utf8'): readonly KeyObject[] {
  return secrets.map((secret) => createSecretKey(Buffer.from(secret, encoding)));
}

export function hmac(algorithm: HmacAlgorithm, key: KeyObject, content: Content): Buffer {
  const digest = createHmac(algorithm, key);
  for (const piece of content) digest.update(piece);
  return digest.digest();
}

/** Whether one of the signatures is one of the keys'. */
export function isHmac(
  algorithm: HmacAlgorithm,
  keys: readonly KeyObject[],
  content: Content,
  signatures: readonly Buffer[],
): boolean {
  if (signatures.length === 0) return false;
  return keys.some((key) => {
    const expected = hmac(algorithm, key, content);
    return signatures.some((actual) => actual.length === expected.length && timingSafeEqual(actual, expected));
  });
}

/** The first key, which is the newest, signs. */
export function signHmac(algorithm: HmacAlgorithm, keys: readonly KeyObject[], content: Content): Buffer {
  const [key] = keys;
  if (key === undefined) throw new TypeError('a required secret passed the settings without a value');
  return hmac(algorithm, key, content);
}
