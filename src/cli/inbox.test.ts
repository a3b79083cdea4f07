import { randomBytes } from 'node:crypto';
import { fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { createSigner, generateSecret } from '../signing/index.ts';
import { type Arrival, Inbox } from './inbox.ts';
import { inboxRoutes } from './inbox-routes.ts';

const newSecret = () => generateSecret('hmac', randomBytes);
const body = Buffer.from('{"type":"invoice.paid"}');

let arrivals: Arrival[];
let inbox: Inbox;
let server: ReturnType<typeof fastify>;

beforeEach(() => {
  arrivals = [];
  inbox = new Inbox(systemClock, (arrival) => arrivals.push(arrival));
  server = fastify();
  inboxRoutes(server, inbox);
});
afterEach(() => server.close());

function deliver(secret: string) {
  const timestampS = Math.floor(Date.now() / 1000);
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestampS),
    'webhook-signature': createSigner([secret]).sign('msg_1', timestampS, body),
  };
  return server.inject({ method: 'POST', url: '/inbox', headers, payload: body });
}

describe('the inbox', () => {
  it('asks to be tried again until it is open, and shows nothing', async () => {
    const secret = newSecret();
    const early = await deliver(secret);
    expect(early.statusCode).toBe(503);
    expect(early.headers['retry-after']).toBe('1');
    expect(arrivals).toEqual([]);
    await inbox.open({ secret: async () => secret, eventTypeOf: async () => 'invoice.paid' });
    expect((await deliver(secret)).statusCode).toBe(200);
    expect(arrivals).toMatchObject([{ verified: true, eventType: 'invoice.paid' }]);
  });

  it('learns a rotated secret before it calls a signature forged', async () => {
    let secret = newSecret();
    await inbox.open({ secret: async () => secret, eventTypeOf: async () => 'invoice.paid' });
    secret = newSecret();
    expect((await deliver(secret)).statusCode).toBe(200);
    expect((await deliver(newSecret())).statusCode).toBe(401);
    expect(arrivals.map(({ verified }) => verified)).toEqual([true, false]);
  });

  it('is where a browser is led from the root; a program gets what is there', async () => {
    server.get('/', async () => ({ name: 'Posthorn' }));
    const page = await server.inject({ url: '/', headers: { accept: 'text/html,*/*' } });
    expect([page.statusCode, page.headers.location]).toEqual([302, '/inbox']);
    expect((await server.inject('/')).json()).toEqual({ name: 'Posthorn' });
  });
});
