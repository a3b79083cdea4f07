/** Connections that are read without Node's HTTP server, until something comes on them that is not plain. */
import { generateKeyPairSync } from 'node:crypto';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createServer } from '../../api/index.ts';
import { type Answer, findProvider } from '../providers/index.ts';
import { createInboundRig, type InboundRig } from '../testing/inbound-rig.ts';
import { PlainConnection } from './plain-connection.ts';

const SECRET = 'whsec_of_the_endpoint_at_stripe';
const stripe = new Stripe('sk_test_1');

let rig: InboundRig;
let server: FastifyInstance;
/** What reached Node's HTTP server. */
let seen: string[];
let sockets: Socket[];
/** Requests wait for it before they are received. */
let gate: Promise<void>;
let begun: number;

beforeEach(async () => {
  rig = await createInboundRig({});
  const { resources, store, clock } = rig;
  gate = Promise.resolve();
  begun = 0;
  const receiver: InboundRig['receiver'] = {
    ...rig.receiver,
    async receive(...given) {
      begun += 1;
      await gate;
      return rig.receiver.receive(...given);
    },
  };
  await resources.sources.create({
    name: 'Stripe',
    uid: 'stripe',
    provider: 'stripe',
    settings: { signingSecret: SECRET },
  });
  server = createServer({ resources, store, clock, receiver, logger: false });
  seen = [];
  server.server.on('request', ({ method, url }) => seen.push(`${method} ${url}`));
  await server.listen({ host: '127.0.0.1', port: 0 });
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
  await rig[Symbol.asyncDispose]();
});

/** A connection, and what came back on it. */
function open(): { socket: Socket; answers: () => string; ended: Promise<void> } {
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { socket, answers: () => text, ended };
}

function webhook(id: string): string {
  const payload = JSON.stringify({ id, object: 'event', type: 'invoice.paid', created: 1, data: {} });
  const signature = stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET });
  const head = [
    'POST /in/stripe HTTP/1.1',
    'Host: x',
    `Stripe-Signature: ${signature}`,
    'Content-Type: application/json',
  ];
  return `${head.join('\r\n')}\r\nContent-Length: ${payload.length}\r\n\r\n${payload}`;
}

function heldGate(): () => void {
  let release = () => {};
  gate = new Promise((resolve) => {
    release = resolve;
  });
  return release;
}

const statuses = (answers: string) => answers.match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(-3))) ?? [];
const stored = async () => (await rig.messages('stripe')).map(({ eventId }) => eventId);

describe('a connection with plain requests', () => {
  it('PAY-01 is answered one by one, each when its event is stored, without Node’s HTTP server', async () => {
    const { socket, answers } = open();
    for (const [index, id] of ['evt_1', 'evt_2', 'evt_3'].entries()) {
      socket.write(webhook(id));
      await expect.poll(() => statuses(answers())).toHaveLength(index + 1);
    }
    expect(statuses(answers())).toEqual([200, 200, 200]);
    expect(await stored()).toEqual(['evt_1', 'evt_2', 'evt_3']);
    expect(seen).toEqual([]);
  });

  it('is given to Node’s server with the first request that is not plain, and stays with it', async () => {
    const { socket, answers } = open();
    const requests = [webhook('evt_1'), 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n', webhook('evt_2')];
    for (const [index, request] of requests.entries()) {
      socket.write(request);
      await expect.poll(() => statuses(answers())).toHaveLength(index + 1);
    }
    expect(statuses(answers())).toEqual([200, 200, 200]);
    expect(seen).toEqual(['GET /health', 'POST /in/stripe']);
    expect(await stored()).toEqual(['evt_1', 'evt_2']);
  });

  it('PAY-01 loses nothing of what comes in pieces while a request is being answered, and answers in order', async () => {
    const release = heldGate();
    const { socket, answers } = open();
    socket.write(webhook('evt_1'));
    await expect.poll(() => begun).toBe(1);
    const rest = webhook('evt_2') + webhook('evt_3');
    for (let at = 0; at < rest.length; at += 100) {
      await new Promise<void>((written) => socket.write(rest.slice(at, at + 100), () => setImmediate(written)));
    }
    expect(answers()).toBe('');
    release();
    await expect.poll(() => statuses(answers())).toEqual([200, 200, 200]);
    const ids = new Map((await rig.messages('stripe')).map(({ id, eventId }) => [id, eventId]));
    const inOrder = answers().match(/msg_\w+/g) ?? [];
    expect(inOrder.map((id) => ids.get(id))).toEqual(['evt_1', 'evt_2', 'evt_3']);
  });

  it('is closed at once with the server when it is idle, and after its answer when it is not', async () => {
    const [idle, busy] = [open(), open()];
    idle.socket.write(webhook('evt_1'));
    await expect.poll(() => statuses(idle.answers())).toEqual([200]);
    const release = heldGate();
    busy.socket.write(webhook('evt_2'));
    await expect.poll(() => begun).toBe(2);
    const closed = server.close();
    await idle.ended;
    expect(busy.answers()).toBe('');
    release();
    await Promise.all([busy.ended, closed]);
    expect(busy.answers()).toMatch(/^HTTP\/1\.1 200.*connection: close/is);
    expect(await stored()).toEqual(['evt_1', 'evt_2']);
  });

  it('is closed with its last answer also where the other side stays open', async () => {
    const release = heldGate();
    const socket = connect({
      port: (server.server.address() as AddressInfo).port,
      host: '127.0.0.1',
      allowHalfOpen: true,
    });
    sockets.push(socket);
    socket.write(webhook('evt_1'));
    await expect.poll(() => begun).toBe(1);
    const closed = server.close();
    release();
    await closed;
    expect(await stored()).toEqual(['evt_1']);
  });

  it('is closed at once where all connections are, also while its request is being answered', async () => {
    const release = heldGate();
    const { socket, answers, ended } = open();
    socket.write(webhook('evt_1'));
    await expect.poll(() => begun).toBe(1);
    const closed = server.close();
    server.server.closeAllConnections();
    await Promise.all([ended, closed]);
    expect(answers()).toBe('');
    release();
    await expect.poll(stored).toEqual(['evt_1']);
  });

  it('is closed when nothing comes on it, and not while its request is being answered', async () => {
    server.server.keepAliveTimeout = 50;
    const release = heldGate();
    const [silent, busy] = [open(), open()];
    busy.socket.write(webhook('evt_1'));
    await expect.poll(() => begun).toBe(1);
    await silent.ended;
    release();
    await busy.ended;
    expect(statuses(busy.answers())).toEqual([200]);
    expect(silent.answers()).toBe('');
  });

  it('is still answered when Node’s server has it and the rest of its request takes longer than it may be idle', async () => {
    server.server.keepAliveTimeout = 50;
    const slow = open();
    const request = webhook('evt_1');
    slow.socket.write(request.slice(0, -9));
    await expect.poll(() => seen).toEqual(['POST /in/stripe']);
    const silent = open();
    await silent.ended;
    slow.socket.write(request.slice(-9));
    await slow.ended;
    expect(statuses(slow.answers())).toEqual([200]);
  });

  it('PAY-01 says no length with an answer that has no body, as Discord wants it', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const settings = {
      publicKey: Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex'),
    };
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    await rig.resources.sources.create({ name: 'Discord', uid: 'discord', provider: 'discord', settings });
    const discord = findProvider('discord');
    const sample = discord.sample('APPLICATION_AUTHORIZED', { now: Date.now(), token: '1' });
    const { headers, body } = discord.sign(sample, { ...settings, privateKey: pem }, Date.now());
    const head = Object.entries({ host: 'x', ...headers, 'content-length': body.length });
    const lines = head.map((each) => `${each.join(': ')}\r\n`).join('');
    const { socket, answers } = open();
    socket.write(Buffer.concat([Buffer.from(`POST /in/discord HTTP/1.1\r\n${lines}\r\n`), body]));
    await expect.poll(() => statuses(answers())).toEqual([204]);
    expect(answers()).not.toMatch(/content-length/i);
    expect(seen).toEqual([]);
    expect(await rig.messages('discord')).toHaveLength(1);
  });

  it('gets its answer also when it has ended its own side', async () => {
    const release = heldGate();
    const { socket, answers, ended } = open();
    socket.end(webhook('evt_1'));
    await expect.poll(() => begun).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    release();
    await ended;
    expect(statuses(answers())).toEqual([200]);
  });

  it('PAY-01 may break off before its answer: the event is stored, and others are served', async () => {
    const release = heldGate();
    const { socket } = open();
    socket.write(webhook('evt_1'));
    await expect.poll(() => begun).toBe(1);
    socket.resetAndDestroy();
    release();
    const other = open();
    other.socket.write(webhook('evt_2'));
    await expect.poll(() => statuses(other.answers())).toEqual([200]);
    await expect.poll(stored).toEqual(['evt_1', 'evt_2']);
  });

  it('takes nothing more from one who reads no answers, until they are read', async () => {
    let taken = 0;
    const slow = new SlowReader();
    connection(slow, async () => {
      taken += 1;
      return ANSWER;
    });
    for (let n = 0; n < 3; n++) {
      slow.push(REQUEST);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(taken).toBe(1);
    slow.readAll();
    await expect.poll(() => taken).toBe(2);
  });

  it.each(['plain', 'é', '€', '𝄞', ''])('writes a body of %j as UTF-8, and its length in bytes', async (body) => {
    const sender = new SlowReader();
    connection(sender, async () => ({ ...ANSWER, body }));
    sender.push(REQUEST);
    await expect.poll(() => sender.bytes().length).toBeGreaterThan(0);
    const [head = '', rest] = sender.bytes().toString('utf8').split('\r\n\r\n');
    expect(rest).toBe(body);
    expect(head).toContain(`content-length: ${Buffer.from(body).length}\r\n`);
  });

  it('is not given to Node’s server when it is gone: that would keep it for ever', async () => {
    let answer = (_: Answer) => {};
    const gone = new SlowReader();
    const handedOver = connection(gone, () => new Promise((resolve) => (answer = resolve)));
    gone.push(REQUEST);
    await new Promise((resolve) => setImmediate(resolve));
    gone.push('P');
    await new Promise((resolve) => setImmediate(resolve));
    gone.destroy();
    answer(ANSWER);
    await new Promise((resolve) => setImmediate(resolve));
    expect(handedOver).toEqual([]);
  });
});

const REQUEST = Buffer.from('POST /in/a HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n');
const ANSWER: Answer = { status: 200, headers: {}, body: 'x'.repeat(100) };

/** Reads a socket of our own; gives what goes to Node's server. */
function connection(socket: Duplex, answer: () => Promise<Answer>): unknown[] {
  const handedOver: unknown[] = [];
  new PlainConnection(socket as Socket, {
    maxBodyBytes: 100,
    keepAliveMs: 1000,
    answer,
    isClosing: () => false,
    date: () => 'now',
    handOver: (given) => handedOver.push(given),
    onGone: () => {},
  });
  return handedOver;
}

/** A sender's socket whose answers pile up. */
class SlowReader extends Duplex {
  #written: (() => void)[] = [];
  readonly #chunks: Buffer[] = [];

  constructor() {
    super({ writableHighWaterMark: 64 });
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    this.#written.push(done);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  readAll(): void {
    for (const done of this.#written.splice(0)) done();
  }

  setTimeout(): this {
    return this;
  }
}
