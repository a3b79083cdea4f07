import { generateKeyPairSync, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPosthornError } from '../errors.ts';
import { generateSecret, parseSecret, parseVerificationKey, publicKey, secretForReceiver } from './secret.ts';

function validationMessage(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isPosthornError(error, 'validation')) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

describe('generateSecret', () => {
  it('makes whsec_ and the 24 bytes of the given random source', () => {
    const secret = generateSecret('hmac', (length) => Buffer.alloc(length, 7));
    expect(secret).toBe(`whsec_${Buffer.alloc(24, 7).toString('base64')}`);
  });

  it('makes whsk_ and 64 bytes: the seed, then the public key that belongs to it', () => {
    // RFC 8032, section 7.1, test 1
    const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
    const publicHalf = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');
    const secret = generateSecret('ed25519', () => seed);
    expect(secret).toBe(`whsk_${Buffer.concat([seed, publicHalf]).toString('base64')}`);
    expect(publicKey(parseSecret(secret))).toBe(`whpk_${publicHalf.toString('base64')}`);
  });

  it('makes secrets that parse, of the kind that was asked for', () => {
    for (const kind of ['hmac', 'ed25519'] as const) {
      expect(parseSecret(generateSecret(kind, randomBytes)).kind).toBe(kind);
    }
  });
});

describe('parseSecret', () => {
  it('takes 24 to 75 bytes, with or without whsec_, and nothing shorter or longer', () => {
    for (let length = 0; length <= 100; length++) {
      const base64 = randomBytes(length).toString('base64');
      if (length >= 24 && length <= 75) {
        expect(parseSecret(base64).kind).toBe('hmac');
        expect(parseSecret(`whsec_${base64}`).kind).toBe('hmac');
      } else {
        expect(validationMessage(() => parseSecret(`whsec_${base64}`))).toContain('24 to 75 bytes');
      }
    }
  });

  it('refuses what is not standard base64, such as a line break from an environment file', () => {
    const good = `whsec_${Buffer.alloc(25, 0xff).toString('base64')}`;
    const bad = [`${good}\n`, ` ${good}`, good.replaceAll('/', '_'), good.replaceAll('=', ''), `${good}=`, `"${good}"`];
    for (const text of bad) expect(validationMessage(() => parseSecret(text))).toContain('standard base64');
  });

  it('refuses a whsk_ whose public half belongs to another seed', () => {
    const one = Buffer.from(generateSecret('ed25519', randomBytes).slice(5), 'base64');
    const two = Buffer.from(generateSecret('ed25519', randomBytes).slice(5), 'base64');
    const mixed = Buffer.concat([one.subarray(0, 32), two.subarray(32)]).toString('base64');
    expect(validationMessage(() => parseSecret(`whsk_${mixed}`))).toContain('public key of its first 32');
    expect(validationMessage(() => parseSecret(`whsk_${one.subarray(0, 63).toString('base64')}`))).toContain(
      '64 bytes',
    );
  });

  it('refuses a public key and says what to give instead', () => {
    expect(validationMessage(() => parseSecret(`whpk_${randomBytes(32).toString('base64')}`))).toContain('whsk_');
  });

  it('says where the secret came from and never repeats it', () => {
    const text = `whsec_${randomBytes(12).toString('base64')}`;
    const message = validationMessage(() => parseSecret(text, ['body', 'key']));
    expect(message).toMatch(/^body\.key: /);
    expect(message).not.toContain(text.slice(6));
  });

  it('answers any text with a secret or a validation error, nothing else', () => {
    const prefix = fc.constantFrom('', 'whsec_', 'whsk_', 'whpk_');
    fc.assert(
      fc.property(prefix, fc.oneof(fc.string(), fc.base64String({ maxLength: 120 })), (start, rest) => {
        try {
          parseSecret(start + rest);
        } catch (error) {
          expect(isPosthornError(error, 'validation')).toBe(true);
        }
      }),
    );
  });
});

describe('what a receiver gets', () => {
  it('is the HMAC secret itself, always with its prefix', () => {
    const secret = generateSecret('hmac', randomBytes);
    expect(secretForReceiver(secret)).toBe(secret);
    expect(secretForReceiver(secret.slice(6))).toBe(secret);
  });

  it('is only the public half of an ed25519 secret', () => {
    const secret = generateSecret('ed25519', randomBytes);
    const shown = secretForReceiver(secret);
    expect(shown).toMatch(/^whpk_/);
    expect(Buffer.from(shown.slice(5), 'base64')).toEqual(Buffer.from(secret.slice(5), 'base64').subarray(32));
    expect(parseVerificationKey(shown).key.equals(parseVerificationKey(secret).key)).toBe(true);
  });

  it('does not exist as a public key for an HMAC secret', () => {
    expect(validationMessage(() => publicKey(parseSecret(generateSecret('hmac', randomBytes))))).toContain(
      'no public key',
    );
  });

  it('must be a whole public key', () => {
    expect(validationMessage(() => parseVerificationKey(`whpk_${randomBytes(31).toString('base64')}`))).toContain(
      '32 bytes',
    );
  });

  it('is the same key that node:crypto derives', () => {
    const pair = generateKeyPairSync('ed25519');
    const jwk = pair.privateKey.export({ format: 'jwk' });
    const seed = Buffer.from(jwk.d ?? '', 'base64url');
    const secret = generateSecret('ed25519', () => seed);
    expect(secretForReceiver(secret)).toBe(`whpk_${Buffer.from(jwk.x ?? '', 'base64url').toString('base64')}`);
  });
});
