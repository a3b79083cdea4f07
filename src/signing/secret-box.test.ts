import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPosthornError } from '../errors.ts';
import { createSecretBox } from './secret-box.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const KEY = 'correct horse battery staple';
const box = createSecretBox(KEY);
const noBox = createSecretBox(undefined);

function configMessage(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (isPosthornError(error, 'config_invalid')) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

describe('createSecretBox with a key', () => {
  it('opens what it sealed, whatever the text', () => {
    expect(box.encrypts).toBe(true);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (plain) => {
        expect(box.open(box.seal(plain))).toBe(plain);
      }),
    );
  });

  it('opens what another process sealed with the same key', () => {
    expect(createSecretBox(KEY).open(box.seal(SECRET))).toBe(SECRET);
  });

  it('stores nothing of the secret in the clear and never seals twice alike', () => {
    const sealed = box.seal(SECRET);
    expect(sealed).toMatch(/^box1:[A-Za-z0-9+/]+=*$/);
    expect(Buffer.from(sealed.slice(5), 'base64').includes(SECRET.slice(0, 10))).toBe(false);
    expect(box.seal(SECRET)).not.toBe(sealed);
  });

  it('takes each iv from the given random source', () => {
    const sealed = createSecretBox(KEY, (length) => Buffer.alloc(length, 9)).seal(SECRET);
    expect(Buffer.from(sealed.slice(5), 'base64').subarray(0, 12)).toEqual(Buffer.alloc(12, 9));
    expect(box.open(sealed)).toBe(SECRET);
  });

  it('opens secrets that were stored before the key was set', () => {
    expect(box.open(noBox.seal(SECRET))).toBe(SECRET);
  });

  it('refuses a wrong key and says which setting to correct', () => {
    const other = createSecretBox(`${KEY}!`);
    const message = configMessage(() => other.open(box.seal(SECRET)));
    expect(message).toContain('POSTHORN_SECRET_KEY');
    expect(message).toContain('in use when it was stored');
  });

  it('refuses a box in which any single byte was changed, cut off, or written by a later format', () => {
    const bytes = Buffer.from(box.seal(SECRET).slice(5), 'base64');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      configMessage(() => box.open(`box1:${changed.toString('base64')}`));
      configMessage(() => box.open(`box1:${bytes.subarray(0, at).toString('base64')}`));
    }
    configMessage(() => box.open(`box2:${bytes.toString('base64')}`));
    configMessage(() => box.open('box1:not base64'));
  });

  it('refuses a key that is too short, by the name of its setting', () => {
    for (const key of ['', 'fifteen letters']) {
      expect(configMessage(() => createSecretBox(key))).toContain('POSTHORN_SECRET_KEY');
    }
    expect(createSecretBox('sixteen letters!').encrypts).toBe(true);
  });
});

describe('createSecretBox without a key', () => {
  it('keeps secrets as they are', () => {
    expect(noBox.encrypts).toBe(false);
    expect(noBox.seal(SECRET)).toBe(SECRET);
    expect(noBox.open(SECRET)).toBe(SECRET);
  });

  it('refuses a sealed secret and says which setting is missing', () => {
    expect(configMessage(() => noBox.open(box.seal(SECRET)))).toContain('POSTHORN_SECRET_KEY is not set');
  });

  it('does not store what it could not tell from a sealed secret later', () => {
    expect(() => noBox.seal(box.seal(SECRET))).toThrow(
      expect.toSatisfy((error) => isPosthornError(error, 'validation')),
    );
  });
});
