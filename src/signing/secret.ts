/**
 * Signing secrets as text: `whsec_` + base64 of an HMAC key, or `whsk_` + base64 of an ed25519 seed and its public
 * half. Parsed secrets hold key objects, which do not print what is inside them. No error repeats the secret.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { invalid, PosthornError } from '../errors.ts';
import { decodeBase64 } from './base64.ts';
import { ED25519_KEY_BYTES, ed25519PrivateKey, ed25519PublicBytes, ed25519PublicKey } from './ed25519.ts';

export type SecretKind = 'hmac' | 'ed25519';

export type Secret =
  | { readonly kind: 'hmac'; readonly key: KeyObject }
  | { readonly kind: 'ed25519'; readonly privateKey: KeyObject; readonly publicKey: KeyObject };

const HMAC_PREFIX = 'whsec_';
const PRIVATE_PREFIX = 'whsk_';
const PUBLIC_PREFIX = 'whpk_';

const NEW_HMAC_BYTES = 24;
const MIN_HMAC_BYTES = 24;
/** Standard Webhooks says 64; Svix takes 75, and secrets that move over from there must still work. */
const MAX_HMAC_BYTES = 75;

const BASE64 = 'standard base64 with its padding, without spaces or line breaks';

export function generateSecret(kind: SecretKind, random: (length: number) => Buffer): string {
  if (kind === 'hmac') return HMAC_PREFIX + random(NEW_HMAC_BYTES).toString('base64');
  const seed = random(ED25519_KEY_BYTES);
  return PRIVATE_PREFIX + Buffer.concat([seed, ed25519PublicBytes(ed25519PrivateKey(seed))]).toString('base64');
}

/** `loc` says where the text came from, for the error: `['body', 'secret']`. */
export function parseSecret(text: string, loc: readonly string[] = ['secret']): Secret {
  if (text.startsWith(PRIVATE_PREFIX)) return parsePrivateKey(text.slice(PRIVATE_PREFIX.length), loc);
  if (text.startsWith(PUBLIC_PREFIX)) {
    throw invalid(loc, 'is a public key (whpk_): it verifies but cannot sign; give the whsk_ or a whsec_ secret');
  }
  const bytes = decodeBase64(hmacBase64(text));
  if (bytes === undefined || bytes.length < MIN_HMAC_BYTES || bytes.length > MAX_HMAC_BYTES) {
    throw invalid(
      loc,
      `must be whsec_ and ${MIN_HMAC_BYTES} to ${MAX_HMAC_BYTES} bytes (or whsk_ and 64 bytes) as ${BASE64}`,
    );
  }
  return { kind: 'hmac', key: createSecretKey(bytes) };
}

/** What verifies the signatures of an asymmetric secret: `whpk_…`. */
export function publicKey(secret: Secret): string {
  if (secret.kind === 'hmac') {
    throw new PosthornError('validation', 'an HMAC secret has no public key; its receiver needs the secret itself');
  }
  return PUBLIC_PREFIX + ed25519PublicBytes(secret.publicKey).toString('base64');
}

/** What a receiver needs to verify: the HMAC secret itself, or the public half of an ed25519 one. */
export function secretForReceiver(text: string): string {
  const secret = parseSecret(text);
  return secret.kind === 'hmac' ? HMAC_PREFIX + hmacBase64(text) : publicKey(secret);
}

/** A receiver's key: any secret, or the `whpk_` of one. */
export function parseVerificationKey(text: string): { readonly kind: SecretKind; readonly key: KeyObject } {
  if (text.startsWith(PUBLIC_PREFIX)) {
    const raw = decodeBase64(text.slice(PUBLIC_PREFIX.length));
    if (raw?.length !== ED25519_KEY_BYTES) {
      throw invalid(['secret'], `must be whpk_ and ${ED25519_KEY_BYTES} bytes as ${BASE64}`);
    }
    return { kind: 'ed25519', key: ed25519PublicKey(raw) };
  }
  const secret = parseSecret(text);
  return { kind: secret.kind, key: secret.kind === 'hmac' ? secret.key : secret.publicKey };
}

function parsePrivateKey(base64: string, loc: readonly string[]): Secret {
  const bytes = decodeBase64(base64);
  if (bytes?.length !== 2 * ED25519_KEY_BYTES) {
    throw invalid(loc, `must be whsk_ and 64 bytes (32 of seed, 32 of public key) as ${BASE64}`);
  }
  const privateKey = ed25519PrivateKey(bytes.subarray(0, ED25519_KEY_BYTES));
  const publicBytes = bytes.subarray(ED25519_KEY_BYTES);
  // A mismatched half would sign with one key and hand out another: every receiver would reject every message.
  if (!ed25519PublicBytes(privateKey).equals(publicBytes)) {
    throw invalid(loc, 'the last 32 bytes of a whsk_ secret must be the public key of its first 32');
  }
  return { kind: 'ed25519', privateKey, publicKey: ed25519PublicKey(publicBytes) };
}

function hmacBase64(text: string): string {
  return text.startsWith(HMAC_PREFIX) ? text.slice(HMAC_PREFIX.length) : text;
}
