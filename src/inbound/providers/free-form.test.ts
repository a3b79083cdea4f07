/** The providers for senders that nobody knows: what their settings allow and refuse. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPosthornError } from '../../errors.ts';
import type { InboundRequest, ProviderSettings } from './provider.ts';
import { findProvider } from './registry.ts';
import { NOW, portsWith } from './testing/provider-cases.ts';

const ports = portsWith('', []);
const isInvalid = (error: unknown) => isPosthornError(error, 'validation');

function request(body: string, headers: Record<string, string> = {}, url = 'https://example.com/in'): InboundRequest {
  return { method: 'POST', url, headers, body: Buffer.from(body) };
}

const hmac = findProvider('generic-hmac');

describe('generic-hmac', () => {
  it('takes what an HMAC written by hand signs, in every algorithm and encoding', () => {
    for (const algorithm of ['sha1', 'sha256', 'sha384', 'sha512']) {
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        const settings = { secret: 's', algorithm, encoding, header: 'X-Sig', prefix: `${algorithm}=` };
        const signature = createHmac(algorithm, 's').update('hello').digest(encoding);
        const signed = request('hello', { 'x-sig': `${algorithm}=${signature}` });
        expect(hmac.prepare(settings).verify(signed, ports)).toEqual({ kind: 'verified' });
        expect(hmac.prepare({ ...settings, prefix: 'v1=' }).verify(signed, ports)).toMatchObject({ kind: 'refused' });
      }
    }
  });

  it('signs what the template says', () => {
    const settings = {
      secret: 's',
      timestampHeader: 'X-Time',
      timestampUnit: 'ms',
      template: 'v0:{timestamp}:{method}:{url}:{body}',
    };
    const content = `v0:${NOW}:POST:https://example.com/in:hello`;
    const headers = { 'x-time': String(NOW), 'x-signature': createHmac('sha256', 's').update(content).digest('hex') };
    expect(hmac.prepare(settings).verify(request('hello', headers), ports)).toEqual({ kind: 'verified' });
    expect(hmac.prepare(settings).verify(request('hello', headers, 'https://example.com/other'), ports)).toMatchObject({
      kind: 'refused',
    });
  });

  it.each<[string, ProviderSettings]>([
    ['an unsigned body', { template: '{timestamp}', timestampHeader: 'x-time' }],
    ['a timestamp that is checked but not signed', { template: '{body}', timestampHeader: 'x-time' }],
    ['a timestamp without a header', { template: '{timestamp}.{body}' }],
    ['a placeholder that it does not know', { template: '{time}.{body}' }],
    ['an algorithm that it does not know', { algorithm: 'md5' }],
    ['an encoding that it does not know', { encoding: 'utf8' }],
    ['a secret with a line break', { secret: 'abc\n' }],
    ['two values where one belongs', { header: ['a', 'b'] }],
    ['eleven secrets', { secret: Array.from({ length: 11 }, (_, n) => `s${n}`) }],
    ['a secret that is a number', { secret: 3 as unknown as string }],
    ['a secret that is an object', { secret: { length: 1 } as unknown as string }],
    ['a tolerance of words', { toleranceSeconds: 'long' }],
    ['no tolerance', { toleranceSeconds: '0' }],
  ])('refuses %s when it is prepared', (_, settings) => {
    expect(() => hmac.prepare({ secret: 's', ...settings })).toThrow(expect.toSatisfy(isInvalid));
  });

  it('never says a secret in an error', () => {
    const secret = 'hunter2hunter2 ';
    expect(() => hmac.prepare({ secret })).toThrow(
      expect.toSatisfy((error: Error) => !error.message.includes('hunter2')),
    );
  });

  it('verifies what it signs, whatever the body, the secret and the scheme', () => {
    const schemes = fc.record({
      secret: fc.string({ minLength: 1 }).filter((text) => text.trim() === text),
      algorithm: fc.constantFrom('sha1', 'sha256', 'sha384', 'sha512'),
      encoding: fc.constantFrom('hex', 'base64', 'base64url'),
      prefix: fc.constantFrom('v1=', 'sha='),
    });
    fc.assert(
      fc.property(schemes, fc.uint8Array(), fc.nat(), (settings, body, at) => {
        const signed = hmac.sign({ ...request(''), body }, settings, NOW);
        expect(hmac.prepare(settings).verify(signed, ports)).toEqual({ kind: 'verified' });
        if (body.length === 0) return;
        const flipped = Uint8Array.from(body);
        flipped[at % body.length] = (flipped[at % body.length] ?? 0) ^ 1;
        expect(hmac.prepare(settings).verify({ ...signed, body: flipped }, ports)).toMatchObject({ kind: 'refused' });
      }),
      { numRuns: 50 },
    );
  });
});

describe('where a source says its id and type are', () => {
  const none = findProvider('none');
  const event = (settings: ProviderSettings, body: string, headers = {}) =>
    none.prepare(settings).eventOf(request(body, headers));

  it('reads headers and paths in the body', () => {
    expect(
      event({ eventTypeHeader: 'X-Topic', eventIdPath: 'data.id' }, '{"data":{"id":7}}', { 'x-topic': 'a b/c' }),
    ).toEqual({
      id: '7',
      type: 'a.b.c',
    });
    expect(
      event({ eventTypePath: 'meta.kind', eventIdHeader: 'x-id' }, '{"meta":{"kind":"paid"}}', { 'x-id': 'e1' }),
    ).toEqual({
      id: 'e1',
      type: 'paid',
    });
  });

  it('guesses a type, or calls it webhook, when nobody said where to look', () => {
    expect(event({}, '{"type":"a"}')).toEqual({ type: 'a' });
    expect(event({}, '{"event":"b"}')).toEqual({ type: 'b' });
    expect(event({}, '{"event":{}}')).toEqual({ type: 'webhook' });
    expect(event({}, 'plain text')).toEqual({ type: 'webhook' });
    expect(event({}, '')).toEqual({ type: 'webhook' });
  });

  it('refuses a body without what the settings name, with an unusable id, or with inherited names', () => {
    const bad: [ProviderSettings, string][] = [
      [{ eventIdPath: 'id' }, '{}'],
      [{ eventTypePath: 'constructor.name' }, '{}'],
      [{ eventIdPath: 'id' }, '{"id":""}'],
      [{ eventIdPath: 'id' }, '{"id":1.5}'],
      [{ eventTypePath: 'type' }, '{"type":7}'],
    ];
    for (const [settings, body] of bad) expect(() => event(settings, body), body).toThrow(expect.toSatisfy(isInvalid));
  });

  it('refuses a number that reading JSON rounds as an id, with the reason and what to do', () => {
    const settings = { eventIdPath: 'data.id' };
    expect(event(settings, '{"data":{"id":9007199254740991}}').id).toBe('9007199254740991');
    for (const id of ['9007199254740993', '-9007199254740993', '820982911946154508']) {
      expect(() => event(settings, `{"data":{"id":${id}}}`)).toThrow(
        /beyond 2\^53 at data\.id, .* as a string, or take eventIdPath out .* the hash of the body/,
      );
      expect(event(settings, `{"data":{"id":"${id}"}}`).id).toBe(id);
    }
  });
});

describe('api-key', () => {
  const key = findProvider('api-key');

  it('finds the key in a header with a prefix, or in the URL', () => {
    const bearer = { key: ['k1', 'k2'], header: 'Authorization', prefix: 'Bearer ' };
    expect(key.prepare(bearer).verify(request('', { authorization: 'Bearer k2' }), ports)).toEqual({
      kind: 'verified',
    });
    expect(key.prepare(bearer).verify(request('', { authorization: 'k2' }), ports)).toMatchObject({ kind: 'refused' });
    const query = key.prepare({ key: 'k 1', query: 'token' });
    expect(query.verify(request('', {}, 'https://a.example/in?token=k%201'), ports)).toEqual({ kind: 'verified' });
    for (const url of [
      'https://a.example/in?token=',
      'https://a.example/in',
      'https://a.example/in?token=k%201&token=k%201',
    ]) {
      expect(query.verify(request('', {}, url), ports)).toMatchObject({ kind: 'refused' });
    }
    expect(() => key.prepare({ key: 'k', query: 'a', header: 'b' })).toThrow(expect.toSatisfy(isInvalid));
  });
});

describe('basic', () => {
  it('takes the pair and nothing like it', () => {
    const basic = findProvider('basic').prepare({ username: 'user', password: 'pa:ss' });
    const as = (credentials: string) => basic.verify(request('', { authorization: credentials }), ports);
    const encode = (text: string) => Buffer.from(text).toString('base64');
    expect(as(`Basic ${encode('user:pa:ss')}`)).toEqual({ kind: 'verified' });
    for (const bad of ['user:pa', 'use:r:pa:ss', ':pa:ss', 'user:', ''])
      expect(as(`Basic ${encode(bad)}`)).toMatchObject({ kind: 'refused' });
    for (const bad of ['Basic', 'Basic ', `Bearer ${encode('user:pa:ss')}`, `Basic ${encode('user:pa:ss')}==`]) {
      expect(as(bad)).toMatchObject({ kind: 'refused' });
    }
    expect(() => findProvider('basic').prepare({ username: 'a:b', password: 'c' })).toThrow(
      expect.toSatisfy(isInvalid),
    );
  });
});

describe('gitlab', () => {
  const gitlab = findProvider('gitlab');
  const signingToken = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;

  it('takes the secret token where there is no signing token, and only signatures where there is one', () => {
    const plain = request('{"object_kind":"push"}', { 'x-gitlab-token': 't1' });
    expect(gitlab.prepare({ secretToken: ['t0', 't1'] }).verify(plain, ports)).toEqual({ kind: 'verified' });
    expect(gitlab.prepare({ secretToken: 't2' }).verify(plain, ports)).toMatchObject({ kind: 'refused' });
    expect(gitlab.prepare({ secretToken: 't1', signingToken }).verify(plain, ports)).toMatchObject({ kind: 'refused' });
  });
});

describe('batches', () => {
  it('have one id for the same events, whatever else changed, and another for other events', () => {
    const hubspot = findProvider('hubspot').prepare({ clientSecret: 's' });
    const batch = (attemptNumber: number, eventId: number) =>
      hubspot.eventOf(
        request(
          JSON.stringify([
            {
              eventId: 1,
              subscriptionId: 2,
              objectId: 3,
              occurredAt: 4,
              attemptNumber,
              subscriptionType: 'contact.creation',
            },
            {
              eventId,
              subscriptionId: 2,
              objectId: 3,
              occurredAt: 4,
              attemptNumber,
              subscriptionType: 'deal.creation',
            },
          ]),
        ),
      );
    expect(batch(0, 5)).toEqual(batch(1, 5));
    expect(batch(0, 5).id).not.toBe(batch(0, 6).id);
    expect(batch(0, 5).type).toBe('batch');
  });

  it('of Adyen are refused when one item of several is forged', () => {
    const adyen = findProvider('adyen');
    const settings = { hmacKey: 'ab'.repeat(32) };
    const sample = adyen.sample('AUTHORISATION', { now: NOW, token: 't' });
    const [item] = JSON.parse(sample.body.toString()).notificationItems;
    const two = adyen.sign(request(JSON.stringify({ notificationItems: [item, item] })), settings, NOW);
    expect(adyen.prepare(settings).verify(two, ports)).toEqual({ kind: 'verified' });
    const body = JSON.parse(two.body.toString());
    body.notificationItems[1].NotificationRequestItem.amount.value = 1;
    expect(adyen.prepare(settings).verify(request(JSON.stringify(body)), ports)).toMatchObject({ kind: 'refused' });
  });
});
