import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type Content, createHmacSha256, type HmacSha256 } from '../../signing/index.ts';
import type { Encoding } from './encoded.ts';

export type HmacAlgorithm = 'sha1' | 'sha256' | 'sha384' | 'sha512';

/** Keys of the algorithm that nearly all providers use, ready for it. */
const sha256Keys = new WeakMap<KeyObject, HmacSha256>();

export const DIGEST_BYTES: Readonly<Record<HmacAlgorithm, number>> = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };

export function hmacKeys(secrets: readonly string[], encoding: 'utf8' | Encoding = 'utf8'): readonly KeyObject[] {
  return secrets.map((secret) => createSecretKey(Buffer.from(secret, encoding)));
}

export function hmac(algorithm: HmacAlgorithm, key: KeyObject, content: Content): Buffer {
  if (algorithm === 'sha256') return sha256Of(key).bytes(content);
  const digest = createHmac(algorithm, key);
  for (const piece of content) digest.update(piece);
  return digest.digest();
}

function sha256Of(key: KeyObject): HmacSha256 {
  let known = sha256Keys.get(key);
  if (known === undefined) {
    known = createHmacSha256(key);
    sha256Keys.set(key, known);
  }
  return known;
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
