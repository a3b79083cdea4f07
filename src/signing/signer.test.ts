import { createHmac, createPublicKey, randomBytes, verify as verifyBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isPosthornError } from '../errors.ts';
import { generateSecret, parseSecret, publicKey } from './secret.ts';
import { createSigner } from './signer.ts';

const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestampS: 1614265330,
  body: Buffer.from('{"test": 2432232314}'),
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

describe('createSigner', () => {
  it('signs the reference vector of Standard Webhooks', () => {
    const signer = createSigner([VECTOR.secret]);
    expect(signer.sign(VECTOR.id, VECTOR.timestampS, VECTOR.body)).toBe(VECTOR.signature);
  });

  it('signs every byte as it is, UTF-8 or not, empty or a view into a larger buffer', () => {
    const key = randomBytes(24);
    const signer = createSigner([`whsec_${key.toString('base64')}`]);
    const allBytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    for (const payload of [allBytes, allBytes.subarray(200, 240), new Uint8Array(), randomBytes(300_000)]) {
      const content = Buffer.concat([Buffer.from('msg_1.1700000000.'), payload]);
      const expected = createHmac('sha256', key).update(content).digest('base64');
      expect(signer.sign('msg_1', 1_700_000_000, payload)).toBe(`v1,${expected}`);
    }
  });

  it('signs with ed25519 what node:crypto verifies with nothing but the public key', () => {
    const secret = generateSecret('ed25519', randomBytes);
    const payload = randomBytes(1000);
    const [version, base64 = ''] = createSigner([secret]).sign('msg_1', 1_700_000_000, payload).split(',');
    const x = Buffer.from(publicKey(parseSecret(secret)).slice(5), 'base64').toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const content = Buffer.concat([Buffer.from('msg_1.1700000000.'), payload]);
    expect(version).toBe('v1a');
    expect(verifyBytes(null, content, key, Buffer.from(base64, 'base64'))).toBe(true);
  });

  it('gives one signature per secret in their order, kinds mixed', () => {
    const secrets = [generateSecret('ed25519', randomBytes), VECTOR.secret, generateSecret('hmac', randomBytes)];
    const list = createSigner(secrets).sign(VECTOR.id, VECTOR.timestampS, VECTOR.body).split(' ');
    expect(list.map((entry) => entry.split(',')[0])).toEqual(['v1a', 'v1', 'v1']);
    expect(list[1]).toBe(VECTOR.signature);
  });

  it('BUD-09 the same id and bytes with a fresh timestamp get a fresh signature', () => {
    const signer = createSigner([VECTOR.secret]);
    const first = signer.sign(VECTOR.id, VECTOR.timestampS, VECTOR.body);
    expect(signer.sign(VECTOR.id, VECTOR.timestampS + 1, VECTOR.body)).not.toBe(first);
    expect(signer.sign(VECTOR.id, VECTOR.timestampS, VECTOR.body)).toBe(first);
  });

  it('refuses to sign with nothing, with a public key, or what no receiver could verify', () => {
    const signer = createSigner([VECTOR.secret]);
    const refused = [
      () => createSigner([]),
      () => createSigner([`whpk_${randomBytes(32).toString('base64')}`]),
      () => signer.sign('msg.1', 1, VECTOR.body),
      () => signer.sign('', 1, VECTOR.body),
      () => signer.sign('msg_1\n', 1, VECTOR.body),
      () => signer.sign('msg_1', 1.5, VECTOR.body),
      () => signer.sign('msg_1', Number.NaN, VECTOR.body),
    ];
    for (const run of refused) expect(run).toThrow(expect.toSatisfy((error) => isPosthornError(error, 'validation')));
  });
});
