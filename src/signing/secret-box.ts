/**
 * Secrets at rest. With POSTHORN_SECRET_KEY they are stored as `box1:` + base64 of iv, tag and AES-256-GCM ciphertext;
 * without it as they are. No secret begins like a box, so what was stored before the key was set still opens.
 */
import { createCipheriv, createDecipheriv, scryptSync } from 'node:crypto';
import { invalid, PosthornError } from '../errors.ts';
import { randomSecret } from '../ids.ts';
import { decodeBase64 } from './base64.ts';

export interface SecretBox {
  readonly encrypts: boolean;
  seal(plain: string): string;
  open(stored: string): string;
}

const PREFIX = 'box1:';
const ANY_BOX = /^box\d+:/;
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const MIN_KEY_CHARACTERS = 16;

/**
 * The configured text may be a passphrase, so it is stretched (scrypt, once, tens of ms). The salt is fixed: every
 * node must come to the same key with nothing but the configuration.
 */
const SALT = 'posthorn secret box 1';

export function createSecretBox(
  key: string | undefined,
  random: (length: number) => Uint8Array = randomSecret,
): SecretBox {
  return key === undefined ? plainBox : encryptingBox(deriveKey(key), random);
}

function deriveKey(text: string): Buffer {
  if (text.length < MIN_KEY_CHARACTERS) {
    throw new PosthornError(
      'config_invalid',
      `POSTHORN_SECRET_KEY must have at least ${MIN_KEY_CHARACTERS} characters; \`openssl rand -base64 32\` makes one`,
    );
  }
  return scryptSync(text, SALT, KEY_BYTES);
}

const plainBox: SecretBox = {
  encrypts: false,
  seal(plain) {
    if (ANY_BOX.test(plain)) throw invalid(['secret'], 'must not begin like an encrypted secret (box1:)');
    return plain;
  },
  open(stored) {
    if (!ANY_BOX.test(stored)) return stored;
    throw new PosthornError(
      'config_invalid',
      'a stored secret is encrypted and POSTHORN_SECRET_KEY is not set; set it to the key that was in use when the secret was stored',
    );
  },
};

function encryptingBox(key: Buffer, random: (length: number) => Uint8Array): SecretBox {
  return {
    encrypts: true,
    seal(plain) {
      const iv = random(IV_BYTES);
      const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return PREFIX + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
    },
    open(stored) {
      if (!ANY_BOX.test(stored)) return stored;
      const bytes = stored.startsWith(PREFIX) ? decodeBase64(stored.slice(PREFIX.length)) : undefined;
      if (bytes === undefined || bytes.length < IV_BYTES + TAG_BYTES) throw cannotOpen();
      try {
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
        decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
        return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString(
          'utf8',
        );
      } catch (cause) {
        throw cannotOpen(cause);
      }
    },
  };
}

/** GCM cannot tell a wrong key from changed bytes, and neither can the message. */
function cannotOpen(cause?: unknown): PosthornError {
  return new PosthornError(
    'config_invalid',
    'a stored secret does not open with this POSTHORN_SECRET_KEY: set the key that was in use when it was stored, or rotate the secret if the stored text was damaged',
    { cause },
  );
}
