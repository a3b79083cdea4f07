import { type KeyObject, timingSafeEqual, verify as verifyBytes } from 'node:crypto';
import { invalid } from '../errors.ts';
import { decodeBase64 } from './base64.ts';
import { ED25519_SIGNATURE_BYTES } from './ed25519.ts';
import { createHmacSha256, type HmacSha256 } from './hmac.ts';
import { parseVerificationKey } from './secret.ts';
import { contentBytes, contentPrefix, isMessageId } from './signed-content.ts';
import { type HeaderSource, readSignedHeaders } from './signed-headers.ts';

export type Rejection =
  | 'missing_headers'
  | 'malformed_id'
  | 'malformed_timestamp'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'no_matching_signature';

export type Verified =
  | { readonly ok: true; readonly messageId: string; readonly timestampS: number }
  | { readonly ok: false; readonly reason: Rejection };

export interface VerifyOptions {
  readonly nowS: number;
  /** How far the sender's clock may be from ours, either way. */
  readonly toleranceS?: number;
}

export interface Verifier {
  verify(headers: HeaderSource, body: Uint8Array, options: VerifyOptions): Verified;
}

const DEFAULT_TOLERANCE_S = 300;
/** A sender in rotation signs with a handful. A stranger's thousand `v1a` entries must not cost a thousand checks. */
const MAX_SIGNATURES = 32;

/** Whether a request carries a live signature of one of `secrets`. To verify many, make one `createVerifier`. */
export function verify(
  secrets: readonly string[],
  headers: HeaderSource,
  body: Uint8Array,
  options: VerifyOptions,
): Verified {
  return createVerifier(secrets).verify(headers, body, options);
}

/** Reads the keys once. `secrets`: `whsec_`, `whsk_` or `whpk_`, any number of them live at the same time. */
export function createVerifier(secrets: readonly string[]): Verifier {
  if (secrets.length === 0) throw invalid(['secrets'], 'must not be empty: nothing could be verified');
  const keys = secrets.map(parseVerificationKey);
  const hmacs = keys.filter(({ kind }) => kind === 'hmac').map(({ key }) => createHmacSha256(key));
  const ed25519Keys = keys.filter(({ kind }) => kind === 'ed25519').map(({ key }) => key);

  return {
    verify(headers, body, { nowS, toleranceS = DEFAULT_TOLERANCE_S }) {
      if (!(body instanceof Uint8Array)) {
        throw invalid(['body'], 'must be the raw bytes as received: what was parsed and written again does not match');
      }
      const signed = readSignedHeaders(headers);
      if (!signed) return rejected('missing_headers');
      if (!isMessageId(signed.messageId)) return rejected('malformed_id');
      const timestampS = parseTimestamp(signed.timestamp);
      if (timestampS === undefined) return rejected('malformed_timestamp');
      // Written so that a NaN rejects.
      if (!(nowS - timestampS <= toleranceS)) return rejected('timestamp_too_old');
      if (!(timestampS - nowS <= toleranceS)) return rejected('timestamp_too_new');

      const signatures = parseSignatures(signed.signatures);
      const prefix = contentPrefix(signed.messageId, timestampS);
      const matches =
        matchesHmac(hmacs, signatures.v1, prefix, body) || matchesEd25519(ed25519Keys, signatures.v1a, prefix, body);
      return matches ? { ok: true, messageId: signed.messageId, timestampS } : rejected('no_matching_signature');
    },
  };
}

function rejected(reason: Rejection): Verified {
  return { ok: false, reason };
}

/** Plain digits only: parseInt would take `1614265330abc`, and what was signed must be what was checked. */
function parseTimestamp(text: string): number | undefined {
  return /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : undefined;
}

interface Signatures {
  readonly v1: readonly Buffer[];
  readonly v1a: readonly Buffer[];
}

/** Versions that we do not know are skipped: senders may add one before their receivers learn it. */
function parseSignatures(list: string): Signatures {
  const v1: Buffer[] = [];
  const v1a: Buffer[] = [];
  // The comma before a space is where a proxy joined two header lines.
  for (const entry of list.split(/,? /, MAX_SIGNATURES)) {
    const comma = entry.indexOf(',');
    const version = entry.slice(0, comma);
    if (version !== 'v1' && version !== 'v1a') continue;
    const bytes = decodeBase64(entry.slice(comma + 1));
    if (bytes !== undefined) (version === 'v1' ? v1 : v1a).push(bytes);
  }
  return { v1, v1a };
}

function matchesHmac(
  hmacs: readonly HmacSha256[],
  signatures: readonly Buffer[],
  prefix: string,
  body: Uint8Array,
): boolean {
  if (signatures.length === 0) return false;
  return hmacs.some((hmac) => {
    const expected = hmac.bytes([prefix, body]);
    return signatures.some((actual) => actual.length === expected.length && timingSafeEqual(actual, expected));
  });
}

function matchesEd25519(
  keys: readonly KeyObject[],
  signatures: readonly Buffer[],
  prefix: string,
  body: Uint8Array,
): boolean {
  if (signatures.length === 0 || keys.length === 0) return false;
  const content = contentBytes(prefix, body);
  return keys.some((key) =>
    signatures.some((actual) => actual.length === ED25519_SIGNATURE_BYTES && verifyBytes(null, content, key, actual)),
  );
}
