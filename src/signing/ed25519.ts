/** Ed25519 keys from their 32 raw bytes. Node imports DER only; these are its constant openings (RFC 8410). */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

const PKCS8_OPENING = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_OPENING = Buffer.from('302a300506032b6570032100', 'hex');

export const ED25519_KEY_BYTES = 32;
export const ED25519_SIGNATURE_BYTES = 64;

export function ed25519PrivateKey(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_OPENING, seed]), format: 'der', type: 'pkcs8' });
}

export function ed25519PublicKey(raw: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_OPENING, raw]), format: 'der', type: 'spki' });
}

/** The 32 public bytes that belong to a private (or public) key. */
export function ed25519PublicBytes(key: KeyObject): Buffer {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return publicKey.export({ format: 'der', type: 'spki' }).subarray(SPKI_OPENING.length);
}
