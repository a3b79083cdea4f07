import { createHmac, sign as signBytes } from 'node:crypto';
import { invalid } from '../errors.ts';
import { parseSecret, type Secret } from './secret.ts';
import { contentBytes, contentPrefix, isMessageId } from './signed-content.ts';

export interface Signer {
  /** One signature per secret in the secrets' order, separated by spaces: `v1,… v1a,…`. */
  sign(messageId: string, timestampS: number, payload: Uint8Array): string;
}

/**
 * Made once per endpoint, since reading keys costs more than signing with them. `secrets` are the live ones, newest
 * first; make a new signer when they change or when the next one expires (`nextExpiry`).
 */
export function createSigner(secrets: readonly string[]): Signer {
  if (secrets.length === 0) throw invalid(['secrets'], 'must not be empty: unsigned messages are not sent');
  const parsed = secrets.map((text) => parseSecret(text));

  return {
    sign(messageId, timestampS, payload) {
      if (!isMessageId(messageId)) throw invalid(['messageId'], 'must be 1 to 256 visible ASCII characters, no dots');
      if (!Number.isSafeInteger(timestampS) || timestampS < 0) throw invalid(['timestampS'], 'must be whole seconds');
      const prefix = contentPrefix(messageId, timestampS);
      return parsed.map((secret) => signature(secret, prefix, payload)).join(' ');
    },
  };
}

/**
 * HMAC over 1 KB takes 3.2 µs with createHmac. Hashing by hand from prepared pads takes 4.0 µs with Hash.copy and
 * 2.1 µs with one-shot hashes in a scratch buffer; 1 µs does not pay for an HMAC of our own (Node 20, 2026-11-16).
 */
function signature(secret: Secret, prefix: string, payload: Uint8Array): string {
  if (secret.kind === 'hmac') {
    return `v1,${createHmac('sha256', secret.key).update(prefix).update(payload).digest('base64')}`;
  }
  return `v1a,${signBytes(null, contentBytes(prefix, payload), secret.privateKey).toString('base64')}`;
}
