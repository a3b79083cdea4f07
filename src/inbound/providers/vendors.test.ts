/** The other side is not ours: each vendor's own library verifies what we sign, or signs what we verify. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { LinearWebhookClient } from '@linear/sdk/webhooks';
import { sign as octokitSign, verify as octokitVerify } from '@octokit/webhooks-methods';
import { Paddle } from '@paddle/paddle-node-sdk';
import { EventWebhook } from '@sendgrid/eventwebhook';
import { AwsLambdaReceiver } from '@zoom/rivet/meetings';
import { verifyKey } from 'discord-interactions';
// @ts-expect-error it ships no types
import MessageValidator from 'sns-validator';
import * as standard from 'standardwebhooks';
import Stripe from 'stripe';
import * as svix from 'svix';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { InboundRequest, ProviderSettings } from './provider.ts';
import { findProvider } from './registry.ts';
import { makeAuthority } from './testing/make-chain.ts';
import { portsWith } from './testing/provider-cases.ts';

// These libraries read the system's clock themselves.
const now = Math.floor(Date.now() / 1000) * 1000;
const authority = makeAuthority();
afterAll(() => authority.close());

const BODIES = ['{"id":"evt_1","type":"a.b"}', '{"name":"Zoë 漢字 🎺","n":1e400}', ' { "spaced" : true }\r\n', ''];
const OURS = { kind: 'verified' };

function request(body: string, headers: Record<string, string> = {}): InboundRequest {
  return { method: 'POST', url: 'https://example.com/in', headers, body: Buffer.from(body) };
}

function signedBy(name: string, body: string, settings: ProviderSettings): InboundRequest {
  return findProvider(name).sign(request(body), settings, now);
}

function verdictOf(name: string, settings: ProviderSettings, signed: InboundRequest) {
  return findProvider(name)
    .prepare(settings)
    .verify(signed, portsWith('', [], now));
}

describe('stripe', () => {
  const secret = 'whsec_0123456789abcdefghijklmnopqrstuv';
  const webhooks = new Stripe('sk_test_unused').webhooks;

  it('SUB-01 takes what the stripe package signs, over the raw bytes, and refuses it changed or stale', () => {
    for (const payload of BODIES) {
      const header = webhooks.generateTestHeaderString({ payload, secret, timestamp: now / 1000 });
      const signed = request(payload, { 'stripe-signature': header });
      expect(verdictOf('stripe', { signingSecret: secret }, signed)).toEqual(OURS);
      expect(
        verdictOf('stripe', { signingSecret: secret }, { ...signed, body: Buffer.from(`${payload} `) }),
      ).toMatchObject({ kind: 'refused' });
      const stale = webhooks.generateTestHeaderString({ payload, secret, timestamp: now / 1000 - 301 });
      expect(verdictOf('stripe', { signingSecret: secret }, request(payload, { 'stripe-signature': stale }))).toEqual({
        kind: 'refused',
        reason: 'the timestamp is more than 300 s old',
      });
    }
  });

  it('takes ours among signatures with other secrets, wherever it stands: while one is changed, Stripe signs with both', () => {
    const [payload = ''] = BODIES;
    const by = (key: string) => webhooks.generateTestHeaderString({ payload, secret: key, timestamp: now / 1000 });
    const v1 = (key: string) => by(key).slice(by(key).indexOf('v1='));
    for (const header of [`${by('whsec_b')},${v1(secret)}`, `${by(secret)},${v1('whsec_b')}`]) {
      expect(webhooks.constructEvent(payload, header, secret)).toMatchObject({ id: 'evt_1' });
      expect(verdictOf('stripe', { signingSecret: secret }, request(payload, { 'stripe-signature': header }))).toEqual(
        OURS,
      );
    }
  });

  it('signs samples that the stripe package takes, of every type', () => {
    const stripe = findProvider('stripe');
    for (const type of stripe.sampleTypes) {
      const signed = stripe.sign(
        stripe.sample(type, { now, token: '1NG8Du2eZvKYlo2C' }),
        { signingSecret: secret },
        now,
      );
      const event = webhooks.constructEvent(Buffer.from(signed.body), signed.headers['stripe-signature'] ?? '', secret);
      expect(event).toMatchObject({ id: 'evt_1NG8Du2eZvKYlo2C', type, object: 'event' });
    }
  });
});

describe('github', () => {
  it('takes what octokit signs, and the other way round', async () => {
    for (const payload of BODIES.filter((body) => body !== '')) {
      const header = await octokitSign('secret', payload);
      expect(verdictOf('github', { secret: 'secret' }, request(payload, { 'x-hub-signature-256': header }))).toEqual(
        OURS,
      );
      const ours = signedBy('github', payload, { secret: 'secret' }).headers['x-hub-signature-256'] ?? '';
      expect(await octokitVerify('secret', payload, ours)).toBe(true);
    }
  });
});

describe.each([
  { library: 'standardwebhooks', Webhook: standard.Webhook, family: 'webhook' },
  { library: 'svix', Webhook: svix.Webhook, family: 'svix' },
])('standard-webhooks and $library', ({ Webhook, family }) => {
  const secret = `whsec_${randomBytes(24).toString('base64')}`;

  it('take what the other signs', () => {
    for (const body of BODIES.filter((text) => text !== '')) {
      const theirs = request(body, {
        [`${family}-id`]: 'msg_1',
        [`${family}-timestamp`]: String(now / 1000),
        [`${family}-signature`]: new Webhook(secret).sign('msg_1', new Date(now), body),
      });
      expect(verdictOf('standard-webhooks', { secret }, theirs)).toEqual(OURS);
      expect(verdictOf('gitlab', { signingToken: secret }, theirs)).toEqual(OURS);
      const ours = signedBy('standard-webhooks', body, { secret });
      expect(new Webhook(secret).verify(body, { ...ours.headers })).toEqual(JSON.parse(body));
    }
  });
});

describe('paddle', () => {
  it('signs what its library takes', async () => {
    for (const body of BODIES) {
      const header = signedBy('paddle', body, { secretKey: 'pdl_ntfset_1' }).headers['paddle-signature'] ?? '';
      const { webhooks } = new Paddle('unused');
      expect(await webhooks.isSignatureValid(body, 'pdl_ntfset_1', header)).toBe(true);
      expect(await webhooks.isSignatureValid(body, 'pdl_ntfset_2', header)).toBe(false);
    }
  });

  it('takes ours as the second of two signatures, as its library does', async () => {
    const [body = ''] = BODIES;
    const [theirs = '', ours = ''] = ['pdl_ntfset_2', 'pdl_ntfset_1'].map(
      (secretKey) => signedBy('paddle', body, { secretKey }).headers['paddle-signature'],
    );
    const header = `${theirs};${ours.slice(ours.indexOf('h1='))}`;
    expect(await new Paddle('unused').webhooks.isSignatureValid(body, 'pdl_ntfset_1', header)).toBe(true);
    const both = request(body, { 'paddle-signature': header });
    expect(verdictOf('paddle', { secretKey: 'pdl_ntfset_1' }, both)).toEqual(OURS);
  });
});

describe('linear', () => {
  it('signs what its library takes, and refuses what it refuses', () => {
    const linear = findProvider('linear');
    const signed = linear.sign(linear.sample('Issue.create', { now, token: 't' }), { signingSecret: 'lin_wh_1' }, now);
    const client = new LinearWebhookClient('lin_wh_1');
    const signature = signed.headers['linear-signature'] ?? '';
    expect(client.verify(Buffer.from(signed.body), signature, now)).toBe(true);
    const old = linear.sign(signed, { signingSecret: 'lin_wh_1' }, now - 61_000);
    expect(() => client.verify(Buffer.from(old.body), old.headers['linear-signature'] ?? '', now - 61_000)).toThrow();
    expect(verdictOf('linear', { signingSecret: 'lin_wh_1' }, old)).toMatchObject({ kind: 'refused' });
  });
});

describe('sendgrid', () => {
  it('signs what its library takes', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const library = new EventWebhook();
    for (const body of BODIES) {
      const { headers } = signedBy('sendgrid', body, { publicKey: key, privateKey: pem });
      const signature = headers['x-twilio-email-event-webhook-signature'] ?? '';
      const time = headers['x-twilio-email-event-webhook-timestamp'] ?? '';
      expect(library.verifySignature(library.convertPublicKeyToECDSA(key), body, signature, time)).toBe(true);
    }
  });
});

describe('discord', () => {
  it('signs what its library takes', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const hex = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    for (const body of BODIES) {
      const { headers } = signedBy('discord', body, { publicKey: hex, privateKey: pem });
      const [signature, time] = [headers['x-signature-ed25519'] ?? '', headers['x-signature-timestamp'] ?? ''];
      expect(await verifyKey(body, signature, time, hex)).toBe(true);
      expect(await verifyKey(`${body} `, signature, time, hex)).toBe(false);
    }
  });
});

describe('zoom', () => {
  const secret = 'zoom-secret-token-0123';
  // It takes the event of a function URL, of which it reads the body and the headers, and writes each to the console.
  async function atRivet({ headers, body }: InboundRequest) {
    const quiet = vi.spyOn(console, 'debug').mockImplementation(() => {});
    const receive = new AwsLambdaReceiver({ webhooksSecretToken: secret }).start();
    const answer = await receive(
      { headers, body: Buffer.from(body).toString(), isBase64Encoded: false } as never,
      {} as never,
    );
    quiet.mockRestore();
    return answer as { readonly statusCode: number; readonly body: string };
  }
  const event = (text: string) => JSON.stringify({ event: 'meeting.started', payload: { object: { topic: text } } });

  it("our signature passes Zoom's own library, and not with another body or secret", async () => {
    for (const text of ['a', 'Zoë 漢字 🎺', ' \u2028 ']) {
      const signed = signedBy('zoom', event(text), { secretToken: secret });
      expect(await atRivet(signed)).toMatchObject({ statusCode: 200 });
      expect(verdictOf('zoom', { secretToken: secret }, signed)).toEqual(OURS);
      expect(await atRivet({ ...signed, body: Buffer.from(event(`${text}b`)) })).toMatchObject({ statusCode: 400 });
      expect(await atRivet(signedBy('zoom', event(text), { secretToken: 'other' }))).toMatchObject({ statusCode: 400 });
    }
  });

  it("the check of a URL is answered as Zoom's own library answers it", async () => {
    const challenge = JSON.stringify({
      event: 'endpoint.url_validation',
      payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' },
    });
    const signed = signedBy('zoom', challenge, { secretToken: secret });
    const theirs = JSON.parse((await atRivet(signed)).body);
    const ours = await verdictOf('zoom', { secretToken: secret }, signed);
    expect(ours).toMatchObject({ kind: 'answer', status: 200 });
    expect('body' in ours && JSON.parse(String(ours.body))).toEqual(theirs);
  });
});

describe('aws-sns', () => {
  it('signs what the validator of AWS takes, in both versions', async () => {
    const signer = authority.issue('sns.amazonaws.com');
    const server = http.createServer((_, response) => response.end(signer.pem)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    // The validator fetches by itself: led to this machine, nothing leaves it.
    const get = vi
      .spyOn(https, 'get')
      .mockImplementation(((_: string, then: (response: http.IncomingMessage) => void) =>
        http.get({ host: '127.0.0.1', port }, then)) as typeof https.get);
    try {
      const sns = findProvider('aws-sns');
      for (const signatureVersion of ['1', '2']) {
        const settings = { topicArn: 'arn:aws:sns:eu-central-1:123456789012:sample', privateKey: signer.privateKey };
        const signed = sns.sign(
          sns.sample('Notification', { now, token: 't' }),
          { ...settings, signatureVersion },
          now,
        );
        const message = await new Promise((resolve, reject) => {
          new MessageValidator().validate(Buffer.from(signed.body).toString(), (error: Error | null, value: unknown) =>
            error ? reject(error) : resolve(value),
          );
        });
        expect(message).toMatchObject({ Type: 'Notification', SignatureVersion: signatureVersion });
      }
      expect(get).toHaveBeenCalledTimes(1);
    } finally {
      get.mockRestore();
      server.close();
    }
  });
});
