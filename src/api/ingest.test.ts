/** Receiving over HTTP: the sources' API by the official SDK, the open path, and what hostile senders try there. */

import { type AddressInfo, connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import Stripe from 'stripe';
import { Svix } from 'svix';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProvider } from '../inbound/providers/index.ts';
import { createInboundRig, type InboundRig } from '../inbound/testing/inbound-rig.ts';
import { startReceiver } from '../testing/scripted-receiver.ts';
import { createServer } from './server.ts';

const SECRET = 'whsec_of_the_endpoint_at_stripe';
const LIMIT = 64 * 1024;
const stripe = new Stripe('sk_test_1');

let rig: InboundRig;
let server: FastifyInstance;
let svix: Svix;
let base = '';
let serverLog: { msg: string }[];

beforeEach(async () => {
  rig = await createInboundRig({ maxBodyBytes: LIMIT });
  const { resources, store, clock, receiver } = rig;
  serverLog = [];
  const logger = pino({ level: 'warn' }, { write: (line) => serverLog.push(JSON.parse(line) as { msg: string }) });
  server = createServer({ resources, store, clock, receiver, logger });
  await server.listen({ host: '127.0.0.1', port: 0 });
  base = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  const { token } = await resources.tokens.create({ name: 'test', scope: 'admin' });
  svix = new Svix(token, { serverUrl: base });
});
afterEach(async () => {
  await server.close();
  await rig[Symbol.asyncDispose]();
});

const source = () =>
  svix.ingest.source.create({ name: 'Stripe', uid: 'stripe', type: 'stripe', config: { secret: SECRET } });
const event = (id = 'evt_1') => JSON.stringify({ id, object: 'event', type: 'invoice.paid', created: 1, data: {} });
const signature = (payload: string, over: object = {}) =>
  stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET, ...over });
const post = (payload: string | Uint8Array, headers: Record<string, string> = {}, path = '/in/stripe') =>
  fetch(`${base}${path}`, {
    method: 'POST',
    body: payload as string,
    headers: { 'content-type': 'application/json', ...headers },
  });
const signedPost = (payload = event()) => post(payload, { 'stripe-signature': signature(payload) });

describe("a source's messages", () => {
  it.each([
    ['text', Buffer.from('order=1&paid'), 'order=1&paid'],
    ['nothing', Buffer.alloc(0), ''],
    ['half a JSON object', Buffer.from('{"a":'), '{"a":'],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0x00, 0x31]), '\ufffd\u00001'],
    ['a JSON string', Buffer.from('"text"'), 'text'],
  ])('ALL-05 whose body is %s are listed, and each can be looked at', async (_, body, payload) => {
    const { id } = await svix.ingest.source.create({ name: 'Any', uid: 'any', type: 'none', config: {} } as never);
    expect((await post(body, { 'content-type': 'application/octet-stream' }, '/in/any')).status).toBe(200);
    const { data } = await svix.message.list(id);
    expect(data.map((message) => message.payload)).toEqual([payload]);
    expect(await svix.message.get(id, data[0]?.id ?? '')).toEqual(data[0]);
  });
});

describe("the official svix SDK's ingest client", () => {
  it('creates, gets, lists, updates and deletes a source, and never sees its secret again', async () => {
    const made = await source();
    expect(made).toMatchObject({ name: 'Stripe', uid: 'stripe', type: 'stripe', ingestUrl: `${base}/in/stripe` });
    expect(made.createdAt).toBeInstanceOf(Date);
    expect(await svix.ingest.source.get('stripe')).toEqual(made);
    expect((await svix.ingest.source.list()).data).toEqual([made]);
    const config = { secret: 'whsec_another' };
    const updated = await svix.ingest.source.update('stripe', { name: 'New', uid: 'stripe', type: 'stripe', config });
    expect(updated).toMatchObject({ id: made.id, name: 'New' });
    expect(JSON.stringify([made, updated])).not.toContain('whsec');
    await svix.ingest.source.delete('stripe');
    await expect(svix.ingest.source.get('stripe')).rejects.toMatchObject({ code: 404 });
  });

  it('takes a source back as it was read, without the secrets that nobody was shown: they stay until one is given', async () => {
    await source();
    const read = await svix.ingest.source.get('stripe');
    await svix.ingest.source.update('stripe', { ...read, name: 'New' } as never);
    expect((await signedPost()).status).toBe(200);
    const config = { secret: 'whsec_another' };
    await svix.ingest.source.update('stripe', { ...read, type: 'stripe', config } as never);
    expect((await signedPost(event('evt_2'))).status).toBe(401);
    const other = { name: 'GitHub', uid: 'stripe', type: 'github', config: {} };
    await expect(svix.ingest.source.update('stripe', other as never)).rejects.toMatchObject({ code: 422 });
  });

  it('PAY-01 keeps the receiving URL of a source that is replaced without its uid; null takes it away', async () => {
    await source();
    const replaced = await svix.ingest.source.update('stripe', { name: 'New', type: 'stripe', config: {} } as never);
    expect(replaced).toMatchObject({ name: 'New', uid: 'stripe', ingestUrl: `${base}/in/stripe` });
    expect((await signedPost()).status).toBe(200);
    const none = { name: 'New', uid: null, type: 'stripe', config: {} };
    const { id, uid, ingestUrl } = await svix.ingest.source.update('stripe', none as never);
    expect([uid, ingestUrl]).toEqual([null, `${base}/in/${id}`]);
    expect((await signedPost(event('evt_2'))).status).toBe(404);
  });

  it('PAY-01 creates a source by PUT with the uid of its path, unless the body says another', async () => {
    const body = { name: 'Stripe', type: 'stripe', config: { secret: SECRET } };
    const put = (path: string, over: object = {}) => svix.ingest.source.update(path, { ...body, ...over } as never);
    const made = await put('stripe');
    expect(made).toMatchObject({ uid: 'stripe', ingestUrl: `${base}/in/stripe` });
    expect((await signedPost()).status).toBe(200);
    expect((await put('stripe')).id).toBe(made.id);
    expect((await put('by-path', { uid: 'by-body' })).uid).toBe('by-body');
    for (const [path, over] of [
      ['nameless', { uid: null }],
      ['src_unknown', {}],
      ['no uid', {}],
    ] as const) {
      expect((await put(path, over)).uid).toBeNull();
    }
  });

  it('keeps an endpoint of a source, and sends events on to it, signed anew', async () => {
    await source();
    const target = await startReceiver();
    const made = await svix.ingest.endpoint.create('stripe', { url: target.url, uid: 'shop' });
    expect(await svix.ingest.endpoint.get('stripe', 'shop')).toEqual(made);
    expect((await svix.ingest.endpoint.list('stripe')).data).toEqual([made]);
    const { key } = await svix.ingest.endpoint.getSecret('stripe', 'shop');
    expect(key).toMatch(/^whsec_/);
    expect((await signedPost()).status).toBe(200);
    await target.arrived(1);
    const { Webhook } = await import('standardwebhooks');
    const [arrival] = target.arrivals;
    const headers = arrival?.headers as Record<string, string>;
    expect(new Webhook(key).verify(arrival?.body.toString() ?? '', headers)).toMatchObject({ id: 'evt_1' });
    expect(headers['stripe-signature']).toBeUndefined();
    expect(headers).toMatchObject({ 'x-webhook-event-type': 'invoice.paid', 'x-webhook-event-id': 'evt_1' });
    await svix.ingest.endpoint.delete('stripe', 'shop');
    await target.close();
  });

  it("takes an endpoint's types as the provider writes them or as they are stored, and no names of that kind for an application", async () => {
    await rig.resources.sources.create({ name: 'Shop', uid: 'shop', provider: 'none' });
    const { url, ...target } = await startReceiver();
    const filterTypes = ['orders/create', 'orders.create', 'a b'];
    const { id } = await rig.resources.sources.get('shop');
    expect((await svix.endpoint.create(id, { url, filterTypes })).filterTypes).toEqual(['orders.create', 'a.b']);
    for (const type of ['orders/create', 'orders/paid', 'a b']) await post(JSON.stringify({ type }), {}, '/in/shop');
    await target.arrived(2);
    expect((await rig.deliveries()).map(({ eventType }) => eventType).sort()).toEqual(['a.b', 'orders.create']);
    await svix.application.create({ name: 'A', uid: 'a' });
    const refused = svix.endpoint.create('a', { url, filterTypes: ['orders/create'] });
    await expect(refused).rejects.toMatchObject({ code: 422 });
    await expect(rig.resources.endpoints.create(id, { url, eventTypes: [{} as never] })).rejects.toMatchObject({
      code: 'validation',
    });
    await target.close();
  });

  it('has the receiving URL that the public URL makes, where one is set', async () => {
    await source();
    const { resources, store, clock } = rig;
    const publicUrl = 'https://hooks.example.com/posthorn';
    const behind = createServer({ resources, store, clock, logger: false, publicUrl });
    const { token } = await resources.tokens.create({ name: 'behind', scope: 'admin' });
    const headers = { authorization: `Bearer ${token}` };
    const answer = await behind.inject({ url: '/ingest/api/v1/source/stripe', headers });
    expect(answer.json()).toMatchObject({ provider: 'stripe', ingestUrl: `${publicUrl}/in/stripe` });
    await behind.close();
  });

  it('takes what others call a generic webhook, and warns', async () => {
    await svix.ingest.source.create({ name: 'Any', uid: 'any', type: 'generic-webhook' });
    const view = await rig.resources.sources.get('any');
    expect(view.warning).toMatch(/Anyone who knows the URL/);
    expect((await post('{"type":"a.b","id":"1"}', {}, '/in/any')).status).toBe(200);
  });

  it.each<[string, object, string]>([
    ['an unknown provider', { type: 'strpe', config: {} }, 'did you mean stripe'],
    ['a missing secret', { type: 'stripe', config: {} }, 'is required'],
  ])('says what is wrong with %s', async (_, fields, expected) => {
    const error = await svix.ingest.source.create({ name: 'x', ...fields } as never).catch((each: unknown) => each);
    expect(error).toMatchObject({ code: 422 });
    expect(JSON.stringify((error as { body: unknown }).body)).toContain(expected);
  });
});

describe('POST /in/{source}', () => {
  it('SUB-01 PAY-01 takes a signed event without a token, by id or uid, and shows it in the API', async () => {
    const { id } = await source();
    expect((await signedPost()).status).toBe(200);
    const payload = event('evt_2');
    expect((await post(payload, { 'stripe-signature': signature(payload) }, `/in/${id}`)).status).toBe(200);
    expect((await svix.message.list(id)).data.map(({ eventId }) => eventId).sort()).toEqual(['evt_1', 'evt_2']);
  });

  it('passes an event through with the headers that it came with, so that the receiver can verify it itself', async () => {
    await rig.resources.sources.create({
      name: 'Stripe',
      uid: 'stripe',
      provider: 'stripe',
      settings: { secret: SECRET },
      forwardAs: 'pass-through',
    });
    const target = await startReceiver();
    await svix.ingest.endpoint.create('stripe', { url: target.url });
    const sent = { 'user-agent': 'Stripe/1.0', connection: 'close, x-hop', 'x-hop': '1', 'x-kept': '2' };
    const head = Object.entries({ ...sent, 'stripe-signature': signature(event()), 'content-length': event().length });
    await raw(
      `POST /in/stripe HTTP/1.1\r\nhost: x\r\n${head.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n${event()}`,
    );
    await target.arrived(1);
    const [arrival] = target.arrivals;
    expect(arrival?.headers).toMatchObject({ 'user-agent': 'Stripe/1.0', 'x-kept': '2' });
    expect(arrival?.headers['x-hop']).toBeUndefined();
    const header = String(arrival?.headers['stripe-signature']);
    expect(stripe.webhooks.constructEvent(arrival?.body ?? '', header, SECRET).id).toBe('evt_1');
    await target.close();
  });

  it.each(['standard-webhooks', 'pass-through'] as const)(
    'sends a form on as a form, by way of %s',
    async (forwardAs) => {
      await rig.resources.sources.create({ name: 'Form', uid: 'form', provider: 'none', forwardAs });
      const target = await startReceiver();
      await svix.ingest.endpoint.create('form', { url: target.url });
      const type = 'application/x-www-form-urlencoded';
      expect((await post('type=sms&id=1', { 'content-type': type }, '/in/form')).status).toBe(200);
      await target.arrived(1);
      expect(target.arrivals[0]?.headers['content-type']).toBe(type);
      await target.close();
    },
  );

  it('keeps no credentials of the request', async () => {
    const settings = { key: 'k3y-0123456789', header: 'x-their-key' };
    await rig.resources.sources.create({ name: 'K', uid: 'k', provider: 'api-key', settings });
    const headers = { 'x-their-key': 'k3y-0123456789', authorization: 'Basic abc', cookie: 'a=b', 'x-kept': 'yes' };
    expect((await post('{"type":"a","id":"1"}', headers, '/in/k')).status).toBe(200);
    const [message] = await rig.messages('k');
    expect(message?.headers).toMatchObject({ 'x-kept': 'yes' });
    expect(JSON.stringify(message?.headers)).not.toMatch(/k3y|Basic|a=b/);
  });

  it('keeps the headers that a short secret is only a part of, and drops one that is it', async () => {
    const settings = { key: 'push', header: 'x-key' };
    await rig.resources.sources.create({ name: 'k', uid: 'k', provider: 'api-key', settings });
    const headers = { 'x-key': 'push', 'x-event': 'push.done', 'x-kept': 'yes' };
    expect((await post('{"type":"a","id":"1"}', headers, '/in/k')).status).toBe(200);
    const [message] = await rig.messages('k');
    expect(message?.headers).toMatchObject({ 'x-event': 'push.done', 'x-kept': 'yes' });
    expect(message?.headers).not.toHaveProperty('x-key');
  });

  it('PAY-06 shows a received message with its headers, its conflicts and its body, JSON or not', async () => {
    const { id } = await svix.ingest.source.create({ name: 'Any', uid: 'any', type: 'generic-webhook' });
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'x-kept': 'yes' };
    expect((await post('type=sms&id=1', form, '/in/any')).status).toBe(200);
    await source();
    await signedPost(event('evt_same'));
    await signedPost(event('evt_same').replace('"created":1', '"created":2'));
    const shown = async (app: string) => {
      const { token } = await rig.resources.tokens.create({ name: 'reader', scope: 'admin' });
      const answer = await fetch(`${base}/api/v1/app/${app}/msg`, { headers: { authorization: `Bearer ${token}` } });
      return ((await answer.json()) as { data: Record<string, unknown>[] }).data;
    };
    expect(await shown(id)).toMatchObject([{ payload: 'type=sms&id=1', conflicts: 0, headers: { 'x-kept': 'yes' } }]);
    const { id: stripeId } = await rig.resources.sources.get('stripe');
    expect(await shown(stripeId)).toMatchObject([{ eventId: 'evt_same', conflicts: 1, payload: { created: 1 } }]);
  });

  it('asks for a password where it is what verifies: many senders wait to be asked', async () => {
    await rig.resources.sources.create({
      name: 'B',
      uid: 'b',
      provider: 'basic',
      settings: { username: 'user', password: 'pass' },
    });
    const answer = await post('{}', {}, '/in/b');
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Basic realm/),
    ]);
    const authorization = `Basic ${Buffer.from('user:pass').toString('base64')}`;
    expect((await post('{}', { authorization }, '/in/b')).status).toBe(200);
    await source();
    expect((await post('{}')).headers.has('www-authenticate')).toBe(false);
  });

  it('takes ten live secrets, drops none by itself, and says how to make room for the eleventh', async () => {
    await source();
    const rotate = (secret: string) => rig.resources.sources.rotateSecret('stripe', { secret });
    for (let index = 0; index < 9; index++) await rotate(`whsec_${index}`);
    expect((await rig.resources.sources.get('stripe')).formerSecrets).toBe(9);
    await expect(rotate('whsec_more')).rejects.toMatchObject({ code: 'limit_reached', message: /dropOld/ });
    // It was the first, and the provider has not changed.
    expect((await signedPost()).status).toBe(200);
    await rotate('whsec_3');
    expect((await rig.resources.sources.get('stripe')).formerSecrets).toBe(9);
  });

  it('answers a challenge and stores nothing', async () => {
    await svix.ingest.source.create({
      name: 'M',
      uid: 'm',
      type: 'meta',
      config: { secret: 'app', verifyToken: 'tok' },
    });
    const answer = await fetch(`${base}/in/m?hub.mode=subscribe&hub.verify_token=tok&hub.challenge=42`);
    expect([answer.status, await answer.text()]).toEqual([200, '42']);
    expect(await rig.messages('m')).toEqual([]);
  });
});

describe('the short way in, past the framework', () => {
  const head = (payload: string) =>
    `host: x\r\nstripe-signature: ${signature(payload)}\r\ncontent-type: application/json\r\ncontent-length: ${payload.length}`;

  it('gives the answer that the framework gives, header by header', async () => {
    await source();
    const answers = [];
    for (const path of ['/in/stripe', '/in/stripe?a=b']) {
      for (const payload of [event(path), '{}']) {
        const answer = await post(payload, { 'stripe-signature': signature(payload) }, path);
        const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'date'));
        answers.push([answer.status, headers, (await answer.text()).replace(/msg_\w+/, 'msg_')]);
      }
    }
    expect(answers.slice(0, 2)).toEqual(answers.slice(2));
  });

  it('PAY-01 keeps the bytes of a body that comes in pieces, and the next request on the connection', async () => {
    await source();
    const long = event('evt_long').replace('"data":{}', `"data":{"memo":"${'é'.repeat(20_000)}"}`);
    const bytes = Buffer.from(long);
    const socket = connect(Number(new URL(base).port), '127.0.0.1').setNoDelay(true);
    const answered: string[] = [];
    socket.on('data', (chunk) => answered.push(...(chunk.toString().match(/HTTP\/1\.1 \d+/g) ?? [])));
    socket.write(`POST /in/stripe HTTP/1.1\r\n${head(long).replace(/\d+$/, String(bytes.length))}\r\n\r\n`);
    for (let at = 0; at < bytes.length; at += 7777) {
      await new Promise<void>((written) => socket.write(bytes.subarray(at, at + 7777), () => setImmediate(written)));
    }
    const next = event('evt_next');
    socket.write(`POST /in/stripe HTTP/1.1\r\n${head(next)}\r\n\r\n${next}`);
    await expect.poll(() => answered).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
    socket.destroy();
    const kept = (await rig.messages('stripe')).map(({ payload }) => Buffer.from(payload).toString());
    expect(kept.sort()).toEqual([long, next].sort());
  });

  it('PAY-01 answers requests that come together on one connection in their order', async () => {
    await source();
    const payloads = ['evt_a', 'evt_b', 'evt_c'].map((id) => event(id));
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    let answers = '';
    socket.on('data', (chunk) => {
      answers += chunk.toString();
    });
    socket.write(payloads.map((each) => `POST /in/stripe HTTP/1.1\r\n${head(each)}\r\n\r\n${each}`).join(''));
    await expect.poll(() => answers.match(/msg_\w+/g)).toHaveLength(3);
    socket.destroy();
    const ids = (await rig.messages('stripe')).map(({ eventId, id }) => [eventId, id]);
    const inOrder = answers.match(/msg_\w+/g)?.map((id, index) => [['evt_a', 'evt_b', 'evt_c'][index], id]);
    expect(ids.sort()).toEqual(inOrder);
  });

  it('answers what is under way when the server closes, and ends the connection with it', async () => {
    await source();
    const answers: string[] = [];
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    socket.on('data', (chunk) => answers.push(chunk.toString()));
    const payload = event();
    const begun = new Promise((resolve) => server.server.once('request', resolve));
    socket.write(`POST /in/stripe HTTP/1.1\r\n${head(payload)}\r\n\r\n${payload.slice(0, 9)}`);
    await begun;
    const closed = server.close();
    await expect.poll(() => server.server.listening).toBe(false);
    socket.write(payload.slice(9));
    await closed;
    await expect.poll(() => answers.join('')).toMatch(/^HTTP\/1\.1 200.*connection: close/is);
    expect(await rig.messages('stripe')).toHaveLength(1);
  });
});

describe('hostile senders', () => {
  const old = { timestamp: Math.floor(Date.now() / 1000) - 3600 };
  const future = { timestamp: Math.floor(Date.now() / 1000) + 3600 };
  const good = event('evt_hostile');
  const hash = 'f'.repeat(64);

  it.each<[string, number, () => Promise<Response>]>([
    ['no signature', 401, () => post(good)],
    ['an empty signature', 401, () => post(good, { 'stripe-signature': '' })],
    ['a signature of nothing', 401, () => post(good, { 'stripe-signature': 't=,v1=' })],
    ['a signature without a time', 401, () => post(good, { 'stripe-signature': `v1=${hash}` })],
    ['a signature without a version', 401, () => post(good, { 'stripe-signature': `t=1,${hash}` })],
    ['only the old scheme', 401, () => post(good, { 'stripe-signature': signature(good).replace('v1=', 'v0=') })],
    ['another secret', 401, () => post(good, { 'stripe-signature': signature(good, { secret: 'whsec_x' }) })],
    ['an hour old', 401, () => post(good, { 'stripe-signature': signature(good, old) })],
    ['an hour early', 401, () => post(good, { 'stripe-signature': signature(good, future) })],
    ['a time that is no number', 401, () => post(good, { 'stripe-signature': `t=NaN,v1=${hash}` })],
    ['a time beyond numbers', 401, () => post(good, { 'stripe-signature': `t=${'9'.repeat(400)},v1=${hash}` })],
    ['a negative time', 401, () => post(good, { 'stripe-signature': `t=-1,v1=${hash}` })],
    [
      'upper-case hex of another body',
      401,
      () => post(good, { 'stripe-signature': signature(`${good} `).toUpperCase() }),
    ],
    ['a thousand signatures', 401, () => post(good, { 'stripe-signature': `t=1,${`v1=${hash},`.repeat(100)}` })],
    ['one byte more', 401, () => post(`${good}\n`, { 'stripe-signature': signature(good) })],
    ['one byte less', 401, () => post(good.slice(0, -1), { 'stripe-signature': signature(good) })],
    ['a byte order mark', 401, () => post(`\ufeff${good}`, { 'stripe-signature': signature(good) })],
    [
      're-serialised JSON',
      401,
      () => post(JSON.stringify(JSON.parse(good), null, 1), { 'stripe-signature': signature(good) }),
    ],
    ['an empty body', 401, () => post('', { 'stripe-signature': signature(good) })],
    ['a signed empty body', 400, () => post('', { 'stripe-signature': signature('') })],
    ['signed text that is no JSON', 400, () => post('hello', { 'stripe-signature': signature('hello') })],
    ['a signed list', 400, () => post('[1]', { 'stripe-signature': signature('[1]') })],
    ['a signed null', 400, () => post('null', { 'stripe-signature': signature('null') })],
    ['no type', 400, () => signedPost('{"id":"evt_1"}')],
    ['a type that is no text', 400, () => signedPost('{"id":"evt_1","type":{"a":1}}')],
    ['a type without an end', 400, () => signedPost(`{"id":"evt_1","type":"${'a'.repeat(5000)}"}`)],
    ['an empty id', 400, () => signedPost('{"id":"","type":"a"}')],
    ['an id that JSON rounds', 400, () => signedPost('{"id":9007199254740993,"type":"a"}')],
    ['an id that is an object', 400, () => signedPost('{"id":{"a":1},"type":"a"}')],
    ['its fields in a prototype', 400, () => signedPost('{"__proto__":{"id":"evt_1","type":"a"}}')],
    ['brackets without an end', 400, () => signedPost('['.repeat(60_000))],
    ['two times', 401, () => post(good, { 'stripe-signature': `t=1,${signature(good)}` })],
    [
      'nine kilobytes of signature',
      401,
      () => post(good, { 'stripe-signature': `${signature(good)},${'x'.repeat(9000)}` }),
    ],
    [
      'the signature in the URL',
      401,
      () => post(good, {}, `/in/stripe?stripe-signature=${encodeURIComponent(signature(good))}`),
    ],
    ['a body beyond the limit', 413, () => signedPost('a'.repeat(LIMIT + 1))],
    ['a compressed body', 415, () => post(good, { 'stripe-signature': signature(good), 'content-encoding': 'gzip' })],
    ['an unknown source', 404, () => post(good, {}, '/in/nobody')],
    ['a path upwards', 404, () => post(good, {}, '/in/..%2f..%2fapi%2fv1%2fapp')],
    ['an endless name', 404, () => post(good, {}, `/in/${'a'.repeat(900)}`)],
    ['a name of SQL', 404, () => post(good, {}, "/in/x'%20OR%20'1'='1")],
    ['a GET', 405, () => fetch(`${base}/in/stripe`)],
    ['a PUT', 405, () => fetch(`${base}/in/stripe`, { method: 'PUT', body: good })],
    ['a DELETE', 405, () => fetch(`${base}/in/stripe`, { method: 'DELETE' })],
    ['an OPTIONS', 405, () => fetch(`${base}/in/stripe`, { method: 'OPTIONS' })],
  ])('%s gets %i and is not stored', async (_, status, attack) => {
    await source();
    const answer = await attack();
    expect(answer.status).toBe(status);
    const body = await answer.text();
    expect(JSON.parse(body)).toMatchObject({ code: expect.any(String), detail: expect.any(String) });
    expect(body).not.toContain(SECRET);
    expect(await rig.messages('stripe')).toEqual([]);
    const { code } = JSON.parse(body) as { code: string };
    expect(rig.log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      `webhook refused: ${code}`,
    ]);
  });

  it('a HEAD, by which some providers check a URL before they take it, finds a source and stores nothing', async () => {
    await source();
    const head = async (path: string) => (await fetch(`${base}${path}`, { method: 'HEAD' })).status;
    expect([await head('/in/stripe'), await head('/in/nobody')]).toEqual([200, 404]);
    expect(await rig.messages('stripe')).toEqual([]);
  });

  /** What was refused, by the receiver or before it. */
  const refusals = () => [
    ...rig.log.filter(({ level }) => level === 'warn').map(({ message }) => message),
    ...serverLog.map(({ msg }) => msg),
  ];
  const unread = 'request refused before it could be read';
  const posted = (rest: string) => `POST /in/stripe HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${rest}`;
  const other = (method: string, target = '/in/stripe') =>
    `${method} ${target} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`;

  it.each<[string, number, string, string]>([
    [
      'the signature twice',
      400,
      'webhook refused: bad_request',
      posted(`stripe-signature: t=1,v1=${hash}\r\nstripe-signature: t=1,v1=${hash}\r\ncontent-length: 2\r\n\r\n{}`),
    ],
    ['two lengths', 400, unread, posted('content-length: 2\r\ncontent-length: 3\r\n\r\n{}')],
    [
      'a length and chunks',
      400,
      unread,
      posted('content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'),
    ],
    [
      'a flood of headers',
      400,
      'webhook refused: bad_request',
      posted(`${'x-a: b\r\n'.repeat(3000)}content-length: 2\r\n\r\n{}`),
    ],
    ['a header beyond the limit', 431, unread, posted(`x-a: ${'b'.repeat(20_000)}\r\ncontent-length: 2\r\n\r\n{}`)],
    ['a NUL in a header', 400, unread, posted('stripe-signature: t=1\0\r\ncontent-length: 2\r\n\r\n{}')],
    ['another expectation', 417, unread, posted('expect: 200-ok\r\ncontent-length: 2\r\n\r\n{}')],
    ['no host', 400, unread, 'POST /in/stripe HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}'],
    ['a path that cannot be decoded', 400, unread, other('POST', '/in/%zz')],
    ['a name beyond all limits', 414, unread, other('POST', `/in/${'a'.repeat(2000)}`)],
    ['a TRACE', 405, 'webhook refused: method_not_allowed', other('TRACE')],
    ['a PROPFIND', 405, 'webhook refused: method_not_allowed', other('PROPFIND')],
    ['a CONNECT', 405, unread, other('CONNECT', 'x:443')],
    ['a TLS greeting', 400, unread, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('ALL-06 %s gets %i, is not stored, and is in the log', async (_, status, logged, request) => {
    await source();
    const [head = '', body = ''] = (await raw(request)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(JSON.parse(body)).toMatchObject({ code: expect.any(String), detail: expect.any(String) });
    expect(refusals()).toEqual([logged]);
    expect(await rig.messages('stripe')).toEqual([]);
  });

  it.each([
    ['sends rubbish', 'rubbish\r\n\r\n'],
    ['never ends its headers', 'POST /in/stripe HTTP/1.1\r\nhost: x\r\n'],
    ['never ends its body', posted('content-length: 100\r\n\r\n{')],
  ])('ALL-06 whoever %s and leaves its side of the connection open does not keep ours', async (_, sent) => {
    const { resources, store, clock, receiver } = rig;
    const hasty = createServer({ resources, store, clock, receiver, logger: false });
    Object.assign(hasty.server, { requestTimeout: 50, headersTimeout: 50, connectionsCheckingInterval: 50 });
    await hasty.listen({ host: '127.0.0.1', port: 0 });
    const { port } = hasty.server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.write(sent));
    const answers: string[] = [];
    socket.setEncoding('latin1').on('data', (text: string) => answers.push(text));
    socket.on('error', () => {});
    await expect.poll(() => answers.join(''), { timeout: 10_000 }).toMatch(/^HTTP\/1\.1 4/);
    await expect.poll(() => promisify(hasty.server.getConnections.bind(hasty.server))()).toBe(0);
    socket.destroy();
    await hasty.close();
  });

  it.each([
    ['of no known form', 'foo'],
    ['that is empty', ''],
  ])('takes a content type %s, by every way in', async (_, type) => {
    await source();
    const sent = (id: string, target: string, chunked: boolean) => {
      const body = event(id);
      const head = `POST ${target} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\nstripe-signature: ${signature(body)}\r\n`;
      const size = body.length.toString(16);
      return raw(
        chunked
          ? `${head}transfer-encoding: chunked\r\n\r\n${size}\r\n${body}\r\n0\r\n\r\n`
          : `${head}content-length: ${body.length}\r\n\r\n${body}`,
      );
    };
    expect(await sent('evt_1', '/in/stripe', false)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await sent('evt_2', '/in/stripe', true)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await sent('evt_3', '/in/stripe?x=1', false)).toMatch(/^HTTP\/1\.1 200 /);
    expect((await rig.messages('stripe')).map(({ headers }) => headers?.['content-type'])).toEqual([type, type, type]);
  });

  const cutOff = async (breakOff: (socket: Socket) => void) => {
    const payload = event();
    const head = `POST /in/stripe HTTP/1.1\r\nhost: x\r\nstripe-signature: ${signature(payload)}\r\n`;
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    await new Promise<void>((resolve) => {
      socket.write(
        `${head}content-type: application/json\r\ncontent-length: ${payload.length}\r\n\r\n${payload.slice(0, 9)}`,
        () => {
          breakOff(socket);
          resolve();
        },
      );
    });
  };

  it('ALL-06 a body whose connection is reset is not stored, and is in the log', async () => {
    await source();
    const arrived = new Promise((resolve) => server.server.once('request', resolve));
    await cutOff((socket) => void arrived.then(() => socket.resetAndDestroy()));
    await expect
      .poll(() => rig.log.filter(({ level }) => level === 'warn').map(({ fields }) => fields.reason))
      .toEqual(['cut off']);
    expect(await rig.messages('stripe')).toEqual([]);
  });

  it('ALL-06 a body that is cut off is not stored, and is in the log', async () => {
    await source();
    await cutOff((socket) => socket.destroy());
    await expect.poll(refusals).toContain('webhook refused: bad_request');
    expect((await signedPost(event('evt_after'))).status).toBe(200);
    expect((await rig.messages('stripe')).map(({ eventId }) => eventId)).toEqual(['evt_after']);
  });

  it('characters in a type that a store might not take become dots', async () => {
    await source();
    expect((await signedPost('{"id":"evt_1","type":"a\\u0000b\\ud800"}')).status).toBe(200);
    expect(await rig.messages('stripe')).toMatchObject([{ eventType: 'a.b.' }]);
  });

  it('PAY-06 SUB-02 fifty copies at once, half of them with another body under the same id, are one event', async () => {
    await source();
    const other = event().replace('"created":1', '"created":2');
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => signedPost(i % 2 === 0 ? event() : other)));
    const bodies = await Promise.all(answers.map((answer) => answer.json() as Promise<{ id?: string }>));
    expect(bodies.filter(({ id }) => id !== undefined)).toHaveLength(1);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const messages = await rig.messages('stripe');
    expect(messages).toMatchObject([{ eventId: 'evt_1', conflicts: 25 }]);
  });

  it("PAY-06 takes a provider's ids of whatever characters and length, as one id for one text", async () => {
    const hmacKey = 'ab'.repeat(32);
    await rig.resources.sources.create({ name: 'Adyen', uid: 'adyen', provider: 'adyen', settings: { hmacKey } });
    const adyen = findProvider('adyen');
    const sample = adyen.sample('AUTHORISATION', { now: Date.now(), token: 'a1' });
    const send = async (pspReference: string, merchantReference: string) => {
      const { notificationItems } = JSON.parse(sample.body.toString());
      const eventCode = 'REPORT_AVAILABLE';
      Object.assign(notificationItems[0].NotificationRequestItem, { eventCode, pspReference, merchantReference });
      const body = Buffer.from(JSON.stringify({ notificationItems }));
      return (await post(adyen.sign({ ...sample, body }, { hmacKey }, Date.now()).body, {}, '/in/adyen')).status;
    };
    const ids = ['settlement detail report.csv', 'Größe', 'evt\n1', 'evt\u00001', 'x'.repeat(5000)];
    for (const id of ids) for (const other of ['1', '2']) expect(await send(id, other)).toBe(200);
    const messages = await rig.messages('adyen');
    expect(messages.map(({ conflicts }) => conflicts)).toEqual(ids.map(() => 1));
    for (const { eventId } of messages) expect(eventId).toMatch(/^sha256_[0-9a-f]{64}$/);
  });

  it('PAY-06 an id that is not ASCII, in the header that dedupe names, is one id whatever the body', async () => {
    const dedupe = { by: 'header', name: 'x-id' } as const;
    await rig.resources.sources.create({ name: 'Odd', uid: 'odd', provider: 'none', settings: {}, dedupe });
    for (const [n, id] of ['Größe 1', 'Größe 1', 'Größe 2'].entries())
      expect((await post(`{"type":"a","n":${n}}`, { 'x-id': id }, '/in/odd')).status).toBe(200);
    expect((await rig.messages('odd')).map(({ conflicts = 0 }) => conflicts).sort()).toEqual([0, 1]);
  });

  it('PAY-06 events whose ids are numbers that JSON cannot tell apart are two', async () => {
    const dedupe = { by: 'json', path: 'id' } as const;
    await rig.resources.sources.create({ name: 'Big', uid: 'big', provider: 'none', settings: {}, dedupe });
    for (const id of ['9007199254740992', '9007199254740993', '7', '7']) {
      expect((await post(`{"type":"a","id":${id}}`, {}, '/in/big')).status).toBe(200);
    }
    expect(await rig.messages('big')).toHaveLength(3);
  });

  it('PAY-06 events whose ids are no text, half of a pair or bytes that are no UTF-8, are told apart by their bodies', async () => {
    const dedupe = { by: 'json', path: 'id' } as const;
    await rig.resources.sources.create({ name: 'Odd', uid: 'odd', provider: 'none', settings: {}, dedupe });
    const around = (id: Buffer) => Buffer.concat([Buffer.from('{"type":"a","id":"'), id, Buffer.from('"}')]);
    const ids = [Buffer.from('\\ud800'), Buffer.from('\\ud801'), Buffer.from([0xff]), Buffer.from([0xfe])];
    for (const id of ids) expect((await post(around(id), {}, '/in/odd')).status).toBe(200);
    expect((await post(around(Buffer.from([0xfe])), {}, '/in/odd')).status).toBe(200);
    expect(await rig.messages('odd')).toHaveLength(4);
  });

  it('SUB-02 a replay within the tolerance is answered 2xx and changes nothing', async () => {
    await source();
    const payload = event();
    const headers = { 'stripe-signature': signature(payload) };
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await (await post(payload, headers)).json());
    const again = { received: true, duplicate: true };
    expect(answers).toEqual([{ received: true, id: expect.stringMatching(/^msg_/) }, again, again]);
    expect(await rig.messages('stripe')).toHaveLength(1);
  });
});

describe('GET /health/webhooks', () => {
  it('SUB-07 tells how many wait for a retry and how many are dead', async () => {
    const source = rig.source('stripe', { secret: SECRET }).on('*', (_, { eventId }) => {
      throw Object.assign(new Error('x'), eventId === 'evt_1' ? { name: 'ZodError' } : { code: 'ECONNREFUSED' });
    });
    await source.ready();
    await signedPost(event('evt_1'));
    await signedPost(event('evt_2'));
    await rig.attempts(2);
    const answer = await fetch(`${base}/health/webhooks`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      status: 'healthy',
      webhooks: {
        pending_retries: 1,
        dlq_items: 1,
        without_handler: 0,
        overdue: 0,
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    });
  });

  it('SUB-07 says degraded with more than five dead letters, and unhealthy without a store', async () => {
    const source = rig
      .source('stripe', { secret: SECRET })
      .on('*', () => Promise.reject(Object.assign(new Error('x'), { name: 'ZodError' })));
    await source.ready();
    for (let i = 0; i < 6; i++) await signedPost(event(`evt_${i}`));
    await rig.attempts(6);
    expect(await (await fetch(`${base}/health/webhooks`)).json()).toMatchObject({ status: 'degraded' });
    await rig.engine.stop(0);
    await rig.store.close();
    const answer = await fetch(`${base}/health/webhooks`);
    expect([answer.status, ((await answer.json()) as { status: string }).status]).toEqual([503, 'unhealthy']);
  });
});

function raw(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(base).port), '127.0.0.1', () => socket.write(request));
    socket.once('data', (chunk) => {
      resolve(chunk.toString('latin1'));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}
