import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPosthornError } from '../errors.ts';
import { generateSecret, secretForReceiver } from './secret.ts';
import type { HeaderSource } from './signed-headers.ts';
import { createSigner } from './signer.ts';
import { createVerifier, verify } from './verify.ts';

const HMAC = generateSecret('hmac', randomBytes);
const ED25519 = generateSecret('ed25519', randomBytes);
const PUBLIC = secretForReceiver(ED25519);
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const NOW_S = 1_700_000_000;
const BODY = Buffer.from('{"type":"invoice.paid"}');
const ACCEPTED = { ok: true, messageId: ID, timestampS: NOW_S };
const NO_MATCH = { ok: false, reason: 'no_matching_signature' };

function signed(secrets: readonly string[], timestampS = NOW_S, body: Uint8Array = BODY): Record<string, string> {
  return {
    'webhook-id': ID,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': createSigner(secrets).sign(ID, timestampS, body),
  };
}

function check(secrets: readonly string[], headers: HeaderSource, body: Uint8Array = BODY) {
  return verify(secrets, headers, body, { nowS: NOW_S });
}

describe('verify accepts', () => {
  it('HMAC with the secret, ed25519 with the private or only the public key', () => {
    expect(check([HMAC], signed([HMAC]))).toEqual(ACCEPTED);
    expect(check([ED25519], signed([ED25519]))).toEqual(ACCEPTED);
    expect(check([PUBLIC], signed([ED25519]))).toEqual(ACCEPTED);
  });

  it('any bytes, as they came', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.constantFrom(HMAC, ED25519), (body, secret) => {
        expect(check([secret], signed([secret], NOW_S, body), body)).toEqual(ACCEPTED);
      }),
    );
  });

  it('any of several live secrets against any of several signatures', () => {
    const other = generateSecret('hmac', randomBytes);
    expect(check([other, PUBLIC, HMAC], signed([HMAC]))).toEqual(ACCEPTED);
    expect(check([HMAC], signed([other, ED25519, HMAC]))).toEqual(ACCEPTED);
    expect(check([PUBLIC], signed([other, HMAC, ED25519]))).toEqual(ACCEPTED);
  });

  it('a list with versions it does not know, and broken entries, around a good one', () => {
    const headers = signed([HMAC]);
    headers['webhook-signature'] = `v2,abc v1 v1, , v1a,!! v1,%%% ${headers['webhook-signature']} v9`;
    expect(check([HMAC], headers)).toEqual(ACCEPTED);
  });

  it('header names in any case, arrays, Headers objects, and svix names', () => {
    const plain = signed([HMAC]);
    const upper = Object.fromEntries(Object.entries(plain).map(([name, value]) => [name.toUpperCase(), value]));
    const arrays = Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, [value]]));
    const svix = Object.fromEntries(
      Object.entries(plain).map(([name, value]) => [name.replace('webhook', 'Svix'), value]),
    );
    for (const headers of [upper, arrays, svix, new Headers(plain), new Headers(svix)]) {
      expect(check([HMAC], headers)).toEqual(ACCEPTED);
    }
  });

  it('signatures spread over several header lines, as arrays or joined on the way', () => {
    const other = generateSecret('hmac', randomBytes);
    for (const order of [[HMAC, other] as const, [other, HMAC] as const]) {
      const lines = createSigner(order).sign(ID, NOW_S, BODY).split(' ');
      expect(check([HMAC], { ...signed([HMAC]), 'webhook-signature': lines })).toEqual(ACCEPTED);
      expect(check([HMAC], { ...signed([HMAC]), 'webhook-signature': lines.join(', ') })).toEqual(ACCEPTED);
    }
  });

  it('a timestamp at the edge of the tolerance on either side, and not one second beyond', () => {
    const results = [-301, -300, 300, 301].map((offset) => check([HMAC], signed([HMAC], NOW_S + offset)));
    expect(results).toEqual([
      { ok: false, reason: 'timestamp_too_old' },
      { ...ACCEPTED, timestampS: NOW_S - 300 },
      { ...ACCEPTED, timestampS: NOW_S + 300 },
      { ok: false, reason: 'timestamp_too_new' },
    ]);
    const strict = { nowS: NOW_S, toleranceS: 0 };
    expect(verify([HMAC], signed([HMAC]), BODY, strict)).toEqual(ACCEPTED);
    expect(verify([HMAC], signed([HMAC], NOW_S - 1), BODY, strict).ok).toBe(false);
  });
});

describe('verify rejects', () => {
  it('a changed byte, id or timestamp, with HMAC and with ed25519', () => {
    for (const secret of [HMAC, ED25519]) {
      const headers = signed([secret]);
      for (let at = 0; at < BODY.length; at++) {
        const changed = Buffer.from(BODY);
        changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
        expect(check([secret], headers, changed)).toEqual(NO_MATCH);
      }
      expect(check([secret], headers, BODY.subarray(1))).toEqual(NO_MATCH);
      expect(check([secret], { ...headers, 'webhook-id': `${ID}x` })).toEqual(NO_MATCH);
      expect(check([secret], { ...headers, 'webhook-timestamp': String(NOW_S + 1) })).toEqual(NO_MATCH);
    }
  });

  it('another secret, and a signature under the wrong version', () => {
    expect(check([generateSecret('hmac', randomBytes)], signed([HMAC]))).toEqual(NO_MATCH);
    expect(check([secretForReceiver(generateSecret('ed25519', randomBytes))], signed([ED25519]))).toEqual(NO_MATCH);
    const relabelled = createSigner([HMAC]).sign(ID, NOW_S, BODY).replace('v1,', 'v1a,');
    expect(check([HMAC, PUBLIC], { ...signed([HMAC]), 'webhook-signature': relabelled })).toEqual(NO_MATCH);
  });

  it('a message that was cut into another id, timestamp and payload over the same signed bytes', () => {
    const body = Buffer.from(`${NOW_S}.5`);
    const headers = { ...signed([HMAC], NOW_S, body), 'webhook-id': `${ID}.${NOW_S}` };
    expect(check([HMAC], headers, Buffer.from('5'))).toEqual({ ok: false, reason: 'malformed_id' });
  });

  it('a missing header, and a trio put together from two families of names', () => {
    const missing = { ok: false, reason: 'missing_headers' };
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      expect(check([HMAC], { ...signed([HMAC]), [name]: undefined })).toEqual(missing);
      expect(check([HMAC], { ...signed([HMAC]), [name]: '' })).toEqual(missing);
      const { [name]: value = '', ...rest } = signed([HMAC]);
      expect(check([HMAC], { ...rest, [name.replace('webhook', 'svix')]: value })).toEqual(missing);
    }
    expect(check([HMAC], {})).toEqual(missing);
    expect(check([HMAC], new Headers())).toEqual(missing);
  });

  it('a timestamp that is not plain digits, even where parseInt would read one', () => {
    const now = String(NOW_S);
    for (const text of [
      `${now}abc`,
      `0${now}`,
      `+${now}`,
      ` ${now}`,
      `${now}.0`,
      '1.7e9',
      '-1',
      '٣',
      `${now}, ${now}`,
    ]) {
      const headers = { ...signed([HMAC]), 'webhook-timestamp': text };
      expect(check([HMAC], headers)).toEqual({ ok: false, reason: 'malformed_timestamp' });
    }
  });

  it('everything when the caller has no time to compare with', () => {
    expect(verify([HMAC], signed([HMAC]), BODY, { nowS: Number.NaN }).ok).toBe(false);
    expect(verify([HMAC], signed([HMAC]), BODY, { nowS: NOW_S, toleranceS: Number.NaN }).ok).toBe(false);
  });

  it('a good signature behind more entries than any sender makes', () => {
    const headers = signed([HMAC]);
    const good = createSigner([HMAC]).sign(ID, NOW_S, BODY);
    const junk = `v1a,${Buffer.alloc(64).toString('base64')} `;
    expect(check([HMAC], { ...headers, 'webhook-signature': junk.repeat(31) + good })).toEqual(ACCEPTED);
    expect(check([HMAC], { ...headers, 'webhook-signature': junk.repeat(32) + good })).toEqual(NO_MATCH);
  });

  it('anything random, without ever throwing', () => {
    const verifier = createVerifier([HMAC, PUBLIC]);
    const timestamp = fc.oneof(fc.string(), fc.constant(String(NOW_S)), fc.integer().map(String));
    const entry = fc
      .tuple(fc.constantFrom('v1', 'v1a', 'v2', ''), fc.oneof(fc.string(), macs(32), macs(64)))
      .map(([version, text]) => `${version},${text}`);
    const signature = fc.oneof(
      fc.string(),
      fc.array(entry).map((list) => list.join(' ')),
      fc.array(entry),
    );
    const trio = fc.record(
      {
        'webhook-id': fc.oneof(fc.string(), fc.constant(ID), fc.array(fc.string())),
        'webhook-timestamp': timestamp,
        'webhook-signature': signature,
        'svix-id': fc.string(),
        'Svix-Timestamp': timestamp,
        'SVIX-SIGNATURE': signature,
      },
      { requiredKeys: [] },
    );
    const anything = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.array(fc.string()), fc.constant(undefined)));
    fc.assert(
      fc.property(fc.oneof(trio, anything), fc.uint8Array(), (headers, body) => {
        expect(verifier.verify(headers, body, { nowS: NOW_S }).ok).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('verify throws only for its caller', () => {
  it('who gave no secrets, a broken one, or a body that is not the raw bytes', () => {
    const mistakes = [
      () => verify([], signed([HMAC]), BODY, { nowS: NOW_S }),
      () => verify(['whsec_short'], signed([HMAC]), BODY, { nowS: NOW_S }),
      () => verify([HMAC], signed([HMAC]), JSON.parse(BODY.toString()), { nowS: NOW_S }),
    ];
    for (const run of mistakes) expect(run).toThrow(expect.toSatisfy((error) => isPosthornError(error, 'validation')));
  });
});

function macs(length: number): fc.Arbitrary<string> {
  return fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => Buffer.from(bytes).toString('base64'));
}
