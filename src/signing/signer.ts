import { sign as signBytes } from 'node:crypto';
import { invalid } from '../errors.ts';
import { createHmacSha256 } from './hmac.ts';
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
  const signers = secrets.map((text) => signerOf(parseSecret(text)));

  return {
    sign(messageId, timestampS, payload) {
      if (!isMessageId(messageId)) throw invalid(['messageId'], 'must be 1 to 256 visible ASCII characters, no dots');
      if (!Number.isSafeInteger(timestampS) || timestampS < 0) throw invalid(['timestampS'], 'must be whole seconds');
      const prefix = contentPrefix(messageId, timestampS);
      return signers.map((signer) => signer(prefix, payload)).join(' ');
    },
  };
}

function signerOf(secret: Secret): (prefix: string, payload: Uint8Array) => string {
  if (secret.kind === 'hmac') {
    const hmac = createHmacSha256(secret.key);
    return (prefix, payload) => `v1,${hmac.base64([prefix, payload])}`;
  }
  return (prefix, payload) =>
    `v1a,${signBytes(null, contentBytes(prefix, payload), secret.privateKey).toString('base64')}`;
}
