import { generateKeyPairSync } from 'node:crypto';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createServer as createApiServer } from '../../api/index.ts';
import { openSqliteStore } from '../../store/sqlite/index.ts';
import { createManualClock } from '../../testing/manual-clock.ts';
import { PermanentError } from '../handlers/handler-errors.ts';
import { findProvider } from '../providers/index.ts';
import { createInboundRig, type InboundRig } from '../testing/inbound-rig.ts';
import type { EventsByType } from './declared-source.ts';
import { nextRoute } from './next-route.ts';

const SECRET = 'whsec_test_secret_of_stripe';
const stripe = new Stripe('sk_test_1');

let rig: InboundRig;
const closing: (() => Promise<unknown> | unknown)[] = [];
beforeEach(async () => {
  rig = await createInboundRig();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await rig[Symbol.asyncDispose]();
});

let count = 0;
function event(over: object = {}): string {
  count += 1;
  return JSON.stringify({
    id: `evt_${count}`,
    object: 'event',
    type: 'invoice.paid',
    created: 1_767_225_600,
    data: { object: { id: 'in_1', customer: 'cus_1' } },
    ...over,
  });
}

function signed(payload: string, secret = SECRET): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload, secret }),
  };
}

const post = (payload: string, headers = signed(payload)) =>
  new Request('http://localhost/webhooks', { method: 'POST', body: payload, headers });

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
}

/** fetch would join the two. */
function statusOfTwice(url: string, name: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: { [name]: ['a', 'b'] } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on('error', reject).end('{}');
  });
}

const send = (url: string, payload = event(), headers = signed(payload)) =>
  fetch(url, { method: 'POST', body: payload, headers });

/** All of them: a slow machine has lines of its own there, of leases and the like. */
const errorsIn = ({ log }: InboundRig) => log.flatMap(({ level, fields }) => (level === 'error' ? [fields.error] : []));

describe('a source declared in code', () => {
  it("PAY-01 SUB-01 takes what Stripe's own library signed, stores it, and calls the handler at once", async () => {
    const seen: [string, string, number][] = [];
    const source = rig
      .source<EventsByType<Stripe.Event>>('stripe', { secret: SECRET })
      .on('invoice.paid', (each, ctx) => {
        seen.push([each.data.object.id ?? '', ctx.eventId, ctx.attempt]);
      });
    const payload = event();
    const answer = await source.receive(post(payload));
    expect(answer.status).toBe(200);
    await rig.attempts(1);
    expect(seen).toEqual([['in_1', `evt_${count}`, 1]]);
    const [message] = await rig.messages('stripe');
    expect(message).toMatchObject({ eventId: `evt_${count}`, eventType: 'invoice.paid' });
    expect(Buffer.from(message?.payload ?? []).toString()).toBe(payload);
  });

  it('SUB-01 refuses another signature, an old one and a changed body, and stores nothing', async () => {
    const source = rig.source('stripe', { secret: SECRET }).on('*', () => {});
    const payload = event();
    const old = stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET, timestamp: 1_000_000 });
    for (const request of [
      post(payload, signed(payload, 'whsec_other')),
      post(payload, { 'stripe-signature': old }),
      post(`${payload} `, signed(payload)),
      post(payload, {}),
    ]) {
      const answer = await source.receive(request);
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ code: 'verification_failed' });
    }
    expect(await rig.messages('stripe')).toEqual([]);
    expect(rig.log.filter(({ message }) => message.startsWith('webhook refused'))).toHaveLength(4);
    expect(JSON.stringify(rig.log)).not.toContain(SECRET);
  });

  it('takes either of two live secrets', async () => {
    const source = rig.source('stripe', { secret: ['whsec_new', SECRET] }).on('*', () => {});
    for (const secret of ['whsec_new', SECRET]) {
      const payload = event();
      expect((await source.receive(post(payload, signed(payload, secret)))).status).toBe(200);
    }
  });

  it('PAY-06 SUB-02 of a hundred copies at once one is stored and handled, and all are answered 2xx', async () => {
    let calls = 0;
    const source = rig.source('stripe', { secret: SECRET }).on('*', () => void calls++);
    const payload = event();
    const answers = await Promise.all(Array.from({ length: 100 }, () => source.receive(post(payload))));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(100);
    await rig.attempts(1);
    expect(await rig.messages('stripe')).toHaveLength(1);
    expect(await rig.deliveries()).toHaveLength(1);
    expect(calls).toBe(1);
  });

  it('PAY-06 the same id with another body keeps the first, says so on the message and in the log', async () => {
    const source = rig.source('stripe', { secret: SECRET }).on('*', () => {});
    const first = event({ id: 'evt_same' });
    expect((await source.receive(post(first))).status).toBe(200);
    expect((await source.receive(post(event({ id: 'evt_same', livemode: true })))).status).toBe(200);
    const [message] = await rig.messages('stripe');
    expect(message?.conflicts).toBe(1);
    expect(Buffer.from(message?.payload ?? []).toString()).toBe(first);
    expect(rig.log.some(({ level, message: line }) => level === 'warn' && line.includes('another body'))).toBe(true);
  });

  it.each<['reject' | 'ignore' | 'keep', number, number]>([
    ['reject', 400, 0],
    ['ignore', 200, 0],
    ['keep', 200, 1],
  ])('PAY-04 an event that nothing is for: %s', async (onUnknownEvent, status, stored) => {
    const source = rig.source('stripe', { secret: SECRET, onUnknownEvent }).on('invoice.voided', () => {});
    expect((await source.receive(post(event()))).status).toBe(status);
    expect(await rig.messages('stripe')).toHaveLength(stored);
    expect((await source.receive(post(event({ type: 'invoice.voided' })))).status).toBe(200);
  });

  it('PAY-04 of each type that is kept and that nothing is for the log warns once', async () => {
    const source = rig.source('stripe', { secret: SECRET }).on('order.piad', () => {});
    for (const type of ['order.paid', 'order.paid', 'order.sent', 'order.piad']) {
      expect((await source.receive(post(event({ type, id: `evt_${++count}` })))).status).toBe(200);
    }
    const warnings = rig.log.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ fields }) => fields)).toEqual([
      { source: 'stripe', eventType: 'order.paid' },
      { source: 'stripe', eventType: 'order.sent' },
    ]);
    expect(warnings[0]?.message).toContain('no handler or endpoint is for its type');
  });

  it('PAY-01 each handler has a delivery of its own: one that fails does not keep the others from being done', async () => {
    const source = rig
      .source('stripe', { secret: SECRET })
      .on('invoice.paid', () => {}, { name: 'books' })
      .on(['invoice.paid', 'invoice.voided'], () => Promise.reject(new Error('mail is down')), { name: 'mail' });
    await source.receive(post(event()));
    await rig.attempts(2);
    expect((await rig.deliveries()).map(({ state }) => state).sort()).toEqual(['delivered', 'pending']);
  });

  it('two handlers need names of their own', () => {
    const source = rig.source('stripe', { secret: SECRET }).on('invoice.paid', () => {});
    expect(() => source.on('invoice.paid', () => {})).toThrow(/give each a name/);
  });

  it('ALL-06 a misspelt option or setting is named, with what was meant', () => {
    expect(() => rig.source('stripe', { secert: 'x' } as never)).toThrow(
      'secert: is not an option of the source "stripe"; did you mean secret?',
    );
    expect(() => rig.source('stripe', { secret: 'x' }).on('a', () => {}, { transacton: true } as never)).toThrow(
      'transacton: is not an option of a handler; did you mean transaction?',
    );
    expect(() => rig.source('stripe', { settings: { secert: 'x' } } as never)).toThrow(
      /^settings\.secert: .*did you mean secret\?$/,
    );
  });

  it.each<[string, object, RegExp]>([
    ['stripe', {}, /^secret: is required: whsec_/],
    ['stripe', { secret: undefined }, /^secret: is required: whsec_/],
    ['stripe', { secret: '' }, /^secret: must not be an empty string: /],
    ['stripe', { settings: { signingSecret: '' } }, /^settings\.signingSecret: must not be an empty string: /],
    [
      'stripe',
      { secret: 'a', settings: { signingSecret: 'b' } },
      /^secret: is another name of "signingSecret", and both/,
    ],
    ['stripe', { secret: 'a', settings: { secret: 'b' } }, /^secret: is also settings\.secret, and both are given/],
    ['stripe', { secret: 'a', settings: 'b' }, /^settings: must be an object, not a string$/],
    ['stripe', { secret: 'a', settings: { toleranceSeconds: 300 } }, /^settings\.toleranceSeconds: .* write "300"$/],
    ['basic', { secret: 'a' }, /^settings\.username: is required: /],
    ['paypal', { secret: 'a' }, /^secret: is not a setting of this provider \(webhookId, /],
    ['paypal', {}, /^settings\.webhookId: is required: /],
    ['none', { secret: 'a' }, /^secret: is not a setting of this provider \(/],
    ['gitlab', {}, /^settings\.signingToken: or secretToken is required$/],
    ['strpe', { secret: 'a' }, /^provider: must be given .*source\("strpe", { provider: .* did you mean stripe\?$/],
    ['shop', { provider: 'shoppify', secret: 'a' }, /^provider: "shoppify" is not known; did you mean shopify\?$/],
    ['my shop', { provider: 'shopify', secret: 'a' }, /^name: must be 1 to 256 characters: letters, /],
    ['stripe', { secret: 'a', policy: { maxRetrys: 1 } }, /^policy\.maxRetrys: /],
    ['stripe', { secret: 'a', onUnknownEvent: 'drop' }, /^onUnknownEvent: must be one of /],
    ['stripe', { secret: 'a', dedupe: { by: 'id' } }, /^dedupe\.by: must be one of /],
  ])(
    'ALL-06 what can never be made is refused at once, in the words of the call: source(%j, %j)',
    (name, options, said) => {
      expect(() => rig.source(name, options as never)).toThrow(said);
      expect(() => rig.source(name, options as never)).toThrow(expect.objectContaining({ code: 'validation' }));
    },
  );

  it('ALL-06 settings are needed by a source that is there already, too', async () => {
    await rig.source('stripe', { secret: SECRET }).ready();
    expect(() => rig.source('stripe', {})).toThrow(/^secret: is required/);
  });

  it.each<[unknown, unknown, string]>([
    ['invoice.paid', undefined, 'handler: must be a function, not undefined'],
    ['invoice.*', () => {}, 'eventTypes: has "invoice.*": only "*" alone stands for others, name each type'],
    [['*', 'invoice.paid'], () => {}, 'eventTypes: has "*": only "*" alone stands for others, name each type'],
    ['', () => {}, 'eventTypes: must be event types, or "*" for all'],
    [[], () => {}, 'eventTypes: names no event type: give some, or "*" for all'],
    ['a', function* () {}, 'handler: must be a function, not a generator, whose body no call runs'],
    ['a', async function* () {}, 'handler: must be a function, not a generator, whose body no call runs'],
  ])('ALL-06 a handler that could never be called is refused: on(%j, …)', (eventTypes, handler, message) => {
    const source = rig.source('stripe', { secret: SECRET });
    expect(() => source.on(eventTypes as string, handler as () => void)).toThrow(message);
  });

  it.each<[unknown, string]>([
    [null, 'options: must be an object, not null'],
    [{ name: '' }, 'name: must not be empty: leave it out, or give it one'],
    [{ name: 5 }, 'name: must be a string, not a number'],
    [{ policy: { maxRetrys: 1 } }, 'policy.maxRetrys: '],
  ])('ALL-06 a handler is refused with options that it cannot have: %j', (options, message) => {
    const source = rig.source('stripe', { secret: SECRET });
    expect(() => source.on('a', () => {}, options as never)).toThrow(message);
  });

  it('ALL-06 a handler that is removed without a name is asked for it', async () => {
    const source = rig.source('stripe', { secret: SECRET });
    await expect(source.removeHandler(undefined as never)).rejects.toThrow('name: must be a string, not undefined');
  });

  it('ALL-06 where secret stands for none, those that there are are named', () => {
    expect(() => rig.source('gitlab', { secret: 'abc' })).toThrow('did you mean signingToken or secretToken?');
    expect(() => rig.source('open', { provider: 'none', settings: { secert: 'abc' } })).toThrow(
      /is not a setting of this provider \([^)]*\)$/,
    );
  });

  it('ALL-06 a secret in the place of the options is answered with the right call, and is not repeated', () => {
    const declare = rig.source as (...given: unknown[]) => unknown;
    expect(() => declare('stripe', SECRET)).toThrow(
      "options: must be an object, not a string: source('stripe', { secret: '…' })",
    );
    expect(() => declare('stripe', SECRET)).not.toThrow(SECRET);
    expect(() => declare('stripe')).toThrow("not undefined: source('stripe', { secret: '…' })");
    expect(() => declare({ secret: SECRET })).toThrow("name: must be a string, not an object: source('stripe'");
  });

  it('a policy that is not there is told to whoever asks, and to the log; the sender hears that it cannot be taken now', async () => {
    const source = rig.source('stripe', { secret: SECRET, policy: 'quik' });
    await expect(source.ready()).rejects.toThrow('policy: there is no policy "quik"; did you mean "quick"?');
    const answer = await source.receive(post(event()));
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await answer.text()).not.toContain('quik');
    expect(errorsIn(rig)).toContainEqual(expect.stringMatching(/^policy: .*quik/));
  });

  it('SUB-01 a rotated secret that the code does not name is dropped, and the log says so', async () => {
    const declare = (secret: string | readonly string[]) => rig.source('stripe', { secret }).on('*', () => {});
    const statusOf = async (secret: string) => {
      const payload = event();
      return (await declare(SECRET).receive(post(payload, signed(payload, secret)))).status;
    };
    const warnings = () => rig.log.filter(({ level, fields }) => level === 'warn' && 'droppedSecrets' in fields);
    await declare(SECRET).ready();
    await rig.resources.sources.rotateSecret('stripe', { secret: 'whsec_new' });
    expect(warnings()).toEqual([]);
    expect([await statusOf('whsec_new'), await statusOf(SECRET)]).toEqual([401, 200]);
    expect(warnings()).toEqual([
      {
        level: 'warn',
        fields: { source: 'stripe', droppedSecrets: 1 },
        message: expect.stringMatching(/, and 1 of them is taken no more: .* name both, as in secret: \[new, old\]$/),
      },
    ]);
    await declare([SECRET, 'whsec_new']).ready();
    await declare(['whsec_new', SECRET]).ready();
    expect(warnings()).toHaveLength(1);
  });

  it('ALL-01 a store that failed while it was declared is asked again by the next request', async () => {
    const inner = await openSqliteStore({ path: ':memory:', thread: false });
    let isDown = false;
    const store = new Proxy(inner, {
      get: (target, name, receiver) =>
        isDown && name === 'get' ? () => Promise.reject(new Error('disk')) : Reflect.get(target, name, receiver),
    });
    await using flaky = await createInboundRig({ store });
    closing.push(() => inner.close());
    isDown = true;
    const source = flaky.source('stripe', { secret: SECRET }).on('*', () => {});
    const answer = await source.receive(post(event()));
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(flaky.log.some(({ level, fields }) => level === 'error' && fields.error === 'disk')).toBe(true);
    isDown = false;
    expect((await source.receive(post(event()))).status).toBe(200);
    await flaky.attempts(1);
  });

  it("handlers are found by the provider's own spelling of a type: orders/create", async () => {
    const seen: string[] = [];
    const source = rig.source('none', {}).on(['orders/create', 'a b'], (_, { eventType }) => void seen.push(eventType));
    for (const type of ['orders/create', 'a b']) await source.receive(post(JSON.stringify({ type }), {}));
    await rig.attempts(2);
    expect(new Set(seen)).toEqual(new Set(['a.b', 'orders.create']));
  });

  it('a policy that a handler no longer names is no longer its policy', async () => {
    const declare = (options: object) => rig.source('stripe', { secret: SECRET }).on('*', () => {}, options);
    const policies = async () =>
      (await rig.store.list({ kind: 'endpoint', limit: 9, order: 'ascending' })).items.map(
        ({ record }) => record.policy,
      );
    await declare({ policy: 'quick' }).ready();
    expect(await policies()).toEqual(['quick']);
    await declare({}).ready();
    expect(await policies()).toEqual([undefined]);
  });

  it('a transaction is refused where the store has none, when it is declared', async () => {
    const store = await openSqliteStore({ path: ':memory:', thread: false });
    closing.push(() => store.close());
    await using embedded = await createInboundRig({ store });
    const source = embedded.source('stripe', { secret: SECRET });
    expect(() => source.on('*', () => {}, { transaction: true })).toThrow(/needs a store on PostgreSQL/);
  });

  it('PAY-01 warns of handlers that this process does not have, and they can be removed with what waits for them', async () => {
    await rig.source('stripe', { secret: SECRET }).ready();
    const { id } = await rig.resources.sources.get('stripe');
    const warnings = () => rig.log.filter(({ level, fields }) => level === 'warn' && Array.isArray(fields.handlers));
    expect(warnings()).toEqual([]);
    const books = { name: 'books', eventTypes: ['invoice.paid'], policy: undefined };
    await rig.resources.sources.declareHandler(id, books);
    const renamed = rig.source('stripe', { secret: SECRET }).on('invoice.paid', () => {}, { name: 'ledger' });
    await renamed.ready();
    expect(warnings().map(({ fields }) => fields)).toEqual([{ source: 'stripe', handlers: ['books'] }]);
    await expect(renamed.removeHandler('ledger')).rejects.toMatchObject({ code: 'conflict' });
    await renamed.removeHandler('books');
    await expect(renamed.removeHandler('books')).rejects.toMatchObject({ code: 'not_found' });
    expect((await rig.resources.sources.listHandlers('stripe')).map(({ name }) => name)).toEqual(['ledger']);
    expect((await renamed.receive(post(event()))).status).toBe(200);
    expect(await rig.deliveries()).toHaveLength(1);
  });

  it('PAY-01 two modules of a process may declare a source: the handlers of both are called, and none is called missing', async () => {
    const called: string[] = [];
    const books = rig.source('stripe', { secret: SECRET }).on('*', () => void called.push('books'), { name: 'books' });
    const mail = rig.source('stripe', { secret: SECRET }).on('*', () => void called.push('mail'), { name: 'mail' });
    await Promise.all([books.ready(), mail.ready()]);
    await mail.receive(post(event()));
    await rig.attempts(2);
    expect(new Set(called)).toEqual(new Set(['books', 'mail']));
    expect(rig.log.filter(({ level }) => level === 'warn')).toEqual([]);
    await expect(books.removeHandler('mail')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('warns of a handler and of options that are declared twice, because the last ones count', async () => {
    const called: string[] = [];
    const declare = (name: string, secret: string) =>
      rig
        .source('stripe', { secret })
        .on('invoice.paid', () => void called.push(name))
        .ready();
    await declare('first', 'whsec_first');
    expect(rig.log.filter(({ level }) => level === 'warn')).toEqual([]);
    await declare('last', SECRET);
    expect(rig.log.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      expect.stringMatching(/declared twice .* different options/),
      expect.stringMatching(/1 of them is taken no more/),
      expect.stringMatching(/handler is declared twice/),
    ]);
    await rig.source('stripe', { secret: SECRET }).receive(post(event()));
    await rig.attempts(1);
    expect(called).toEqual(['last']);
  });

  it('a source that verifies nothing is warned of whenever it is declared', async () => {
    await rig.source('none', {}).ready();
    expect(rig.log).toContainEqual(
      expect.objectContaining({ level: 'warn', message: expect.stringMatching(/anyone who knows the URL/i) }),
    );
  });

  it("SUB-11 dead letters are sent again by the provider's id of the event, and an unknown id is none", async () => {
    let works = false;
    const source = rig.source('stripe', { secret: SECRET }).on('*', () => {
      if (!works) throw new PermanentError('not yet');
    });
    await source.receive(post(event({ id: 'evt_dead' })));
    await rig.attempts(1);
    works = true;
    expect(await source.retry('evt_none')).toBe(0);
    expect(await source.retry('evt_dead')).toBe(1);
    await rig.attempts(2);
    expect((await rig.deliveries()).map(({ state }) => state)).toEqual(['delivered']);
    expect(await source.retry('evt_dead')).toBe(0);
  });

  it('declaring it again writes nothing and keeps its ids; another setting counts from then on', async () => {
    await rig
      .source('stripe', { secret: SECRET })
      .on('invoice.paid', () => {})
      .ready();
    const before = await rig.store.get({ kind: 'source', idOrName: 'stripe' });
    await rig
      .source('stripe', { secret: SECRET })
      .on('invoice.paid', () => {})
      .ready();
    expect(await rig.store.get({ kind: 'source', idOrName: 'stripe' })).toEqual(before);
    const changed = rig.source('stripe', { secret: 'whsec_other', policy: 'stripe-subscriptions' });
    await changed.ready();
    const after = await rig.store.get({ kind: 'source', idOrName: 'stripe' });
    expect(after?.record).toMatchObject({ id: before?.record.id, policy: 'stripe-subscriptions' });
    const payload = event();
    expect((await changed.receive(post(payload, signed(payload, 'whsec_other')))).status).toBe(200);
    const page = await rig.store.list({ kind: 'endpoint', limit: 9, order: 'ascending' });
    expect(page.items).toHaveLength(1);
  });

  it('keeps its secrets encrypted, and shows none', async () => {
    await rig.source('stripe', { secret: SECRET }).ready();
    const stored = await rig.store.get({ kind: 'source', idOrName: 'stripe' });
    expect(JSON.stringify(stored)).not.toContain(SECRET);
    expect(JSON.stringify(await rig.resources.sources.get('stripe'))).not.toContain(SECRET);
  });

  it('SUB-06 the log has what was received, processed, retried and refused, with the event id', async () => {
    const clock = createManualClock();
    await using virtual = await createInboundRig({ clock });
    let calls = 0;
    const source = virtual
      .source('stripe', { secret: SECRET, policy: 'stripe-subscriptions' })
      .on('invoice.paid', () => {
        if (++calls === 1) throw new Error('not yet');
      });
    const payload = event({ id: 'evt_log' });
    const timestamp = Math.floor(clock.now() / 1000);
    const signature = stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET, timestamp });
    await source.receive(post(payload, { 'stripe-signature': signature }));
    await virtual.attempts(1);
    await clock.advance(30_000);
    await virtual.attempts(2);
    const lines = virtual.log.filter(({ fields, level }) => fields.eventId === 'evt_log' && level !== 'debug');
    expect(lines.map(({ message }) => message)).toEqual([
      'webhook received',
      'processing webhook event',
      'webhook delivery failed',
      'processing retry',
      'webhook event processed, removed from the retry queue',
    ]);
    expect(lines[2]?.fields).toMatchObject({ attempt: 1, maxAttempts: 4, willRetry: true, retryInMs: 30_000 });
    expect(lines[3]?.fields).toMatchObject({ retry: 1, maxRetries: 3 });
  });
});

describe('receivers take the raw body', () => {
  const declare = () => rig.source('stripe', { secret: SECRET }).on('*', () => {});

  it('Node', async () => {
    const url = await listen(createServer(declare().node()));
    expect((await send(url)).status).toBe(200);
    expect((await send(url, event(), {})).status).toBe(401);
  });

  it('Express, before the body parsers or with raw ones', async () => {
    const source = declare();
    const app = express();
    app.post('/webhooks', source.node());
    app.post('/raw', express.raw({ type: '*/*' }), source.node());
    app.use(express.json());
    const url = await listen(createServer(app));
    expect((await send(url)).status).toBe(200);
    expect((await send(url.replace('webhooks', 'raw'))).status).toBe(200);
  });

  it('Express after express.json() says what to do', async () => {
    const app = express();
    app.use(express.json());
    const source = declare();
    await source.ready();
    app.post('/webhooks', source.node());
    const told: string[] = [];
    app.use((error: Error, _: express.Request, response: express.Response, __: express.NextFunction) => {
      told.push(error.message);
      response.status(500).end();
    });
    const url = await listen(createServer(app));
    expect((await send(url)).status).toBe(500);
    expect(told[0]).toMatch(/before express\.json\(\)/);
    expect(await rig.messages('stripe')).toEqual([]);
  });

  it('Fastify, whose other routes keep their parsers', async () => {
    const server = fastify();
    await server.register(declare().fastify('/webhooks'));
    server.post('/other', (request) => request.body);
    closing.push(() => server.close());
    await server.listen({ port: 0, host: '127.0.0.1' });
    const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}/webhooks`;
    expect((await send(url)).status).toBe(200);
    const other = await fetch(url.replace('webhooks', 'other'), {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
    });
    expect(await other.json()).toEqual({ a: 1 });
  });

  it('Hono', async () => {
    const app = new Hono().all('/webhooks', declare().hono());
    expect((await app.request(post(event()))).status).toBe(200);
  });

  it('Next.js', async () => {
    const { POST, GET } = declare().next();
    expect((await POST(post(event()))).status).toBe(200);
    expect((await GET(new Request('http://localhost/webhooks'))).status).toBe(405);
  });

  it('PAY-01 answers without a body where the provider wants none, by every way in', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const hex = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const source = rig.source('discord', { settings: { publicKey: hex } }).on('*', () => {});
    const discord = findProvider('discord');
    const requestOf = (type: string) => {
      const sample = discord.sample('APPLICATION_AUTHORIZED', { now: Date.now(), token: `t${++count}` });
      const body = type === 'ping' ? Buffer.from('{"version":1,"type":0}') : sample.body;
      return discord.sign({ ...sample, body }, { publicKey: hex, privateKey: pem }, Date.now());
    };
    const server = fastify();
    await server.register(source.fastify('/webhooks'));
    const hono = new Hono().all('/webhooks', source.hono());
    const own = createApiServer({ ...rig, logger: false });
    closing.push(
      () => server.close(),
      () => own.close(),
    );
    const urls = [
      await listen(createServer(source.node())),
      `${await server.listen({ port: 0, host: '127.0.0.1' })}/webhooks`,
      `${await own.listen({ port: 0, host: '127.0.0.1' })}/in/discord`,
      // A query is not plain: it goes by Node's own request and response.
      `${own.listeningOrigin}/in/discord?`,
    ];
    const ways: ((request: Request) => Promise<Response> | Response)[] = [
      source.receive,
      source.next().POST,
      (each) => hono.request(each),
      ...urls.map((url) => (each: Request) => fetch(new Request(url, each))),
    ];
    for (const way of ways) {
      for (const type of ['ping', 'event']) {
        const { body, headers } = requestOf(type);
        const init = { method: 'POST', body: new Uint8Array(body), headers: { ...headers }, duplex: 'half' } as const;
        const answer = await way(new Request('http://localhost/webhooks', init));
        expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([204, null, '']);
      }
    }
    expect(await rig.messages('discord')).toHaveLength(ways.length);
  });

  it('ALL-06 what is refused before it can be verified is in the log too', async () => {
    await using small = await createInboundRig({ maxBodyBytes: 50 });
    const source = small.source('stripe', { secret: SECRET });
    const refusals = () =>
      small.log
        .splice(0)
        .flatMap(({ fields, message }) => (message.startsWith('webhook refused') ? [fields.reason] : []));
    const server = fastify();
    await server.register(source.fastify('/webhooks'));
    closing.push(() => server.close());
    await server.listen({ port: 0, host: '127.0.0.1' });
    const urls = [
      await listen(createServer(source.node())),
      `http://127.0.0.1:${(server.server.address() as AddressInfo).port}/webhooks`,
    ];
    for (const url of urls) {
      const large = await send(url, 'x'.repeat(51));
      const detail = 'The body is larger than the 50 bytes that this server takes';
      expect([large.status, await large.json()]).toEqual([413, { code: 'payload_too_large', detail }]);
      expect(refusals()).toEqual(['too large']);
      expect(await statusOfTwice(url, 'stripe-signature')).toBe(400);
      expect(refusals()).toEqual(['repeated header']);
    }
    expect((await source.receive(post('x'.repeat(51)))).status).toBe(413);
    expect(refusals()).toEqual(['too large']);
  });

  it('ALL-06 a body that stops is waited for half a minute, then refused, and in the log', async () => {
    const clock = createManualClock();
    await using virtual = await createInboundRig({ clock });
    const source = virtual.source('stripe', { secret: SECRET });
    await source.ready();
    const server = createServer(source.node());
    const begun = new Promise((resolve) => server.once('request', resolve));
    const sent = request(await listen(server), { method: 'POST', headers: { 'content-length': 100 } });
    const answered = new Promise<number | undefined>((resolve, reject) => {
      sent.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', reject);
    });
    sent.write('{"id":');
    await begun;
    const refusals = () => virtual.log.filter(({ message }) => message === 'webhook refused: bad_request');
    await clock.advance(30_000 - 1);
    expect(refusals()).toEqual([]);
    await clock.advance(1);
    expect(await answered).toBe(400);
    expect(refusals().map(({ fields }) => fields)).toEqual([{ source: 'stripe', reason: 'too slow' }]);
  });

  it('ALL-06 of headers 16 KB are stored, and the event with them', async () => {
    const source = rig.source('open', { provider: 'none' });
    const many = Array.from({ length: 20 }, (_, n) => [`x-${n + 10}`, 'x'.repeat(1020)] as [string, string]);
    const sent = new Request('http://localhost/', { method: 'POST', body: '{"type":"a"}', headers: many });
    expect((await source.receive(sent)).status).toBe(200);
    const [message] = await rig.messages('open');
    const bytes = Object.entries(message?.headers ?? {}).reduce((sum, each) => sum + each.join('').length, 0);
    expect(bytes).toBeGreaterThan(15 * 1024);
    expect(bytes).toBeLessThanOrEqual(16 * 1024);
  });

  it('ALL-06 a fault of the program is told to the log, and not to strangers', async () => {
    const take = declare().node();
    const url = await listen(
      createServer((request, response) => void request.resume().on('end', () => take(request, response))),
    );
    const answer = await send(url);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await answer.json()).toMatchObject({ code: 'unavailable', detail: expect.not.stringContaining('body') });
    expect(errorsIn(rig)).toContainEqual(expect.stringMatching(/before express\.json\(\)/));
  });

  it('ALL-06 a body that the program read in part is its fault too, and no wrong signature', async () => {
    const source = declare();
    await source.ready();
    const take = source.node();
    const url = await listen(
      createServer((request, response) => void request.once('data', () => take(request, response))),
    );
    expect((await send(url)).status).toBe(503);
    expect(rig.log.filter(({ level }) => level === 'warn')).toEqual([]);
    expect(errorsIn(rig)).toContainEqual(expect.stringMatching(/read before Posthorn got it/));
  });

  it.each<[string, (bytes: Uint8Array) => unknown]>([
    ['overwrites', (bytes) => bytes.fill(0)],
    ['gives away', (bytes) => structuredClone(bytes, { transfer: [bytes.buffer as ArrayBuffer] })],
  ])('ALL-06 what a handler that %s its bytes and headers does is nobody else’s', async (_, spoil) => {
    const seen: [string, unknown][] = [];
    const source = rig
      .source('shared', { provider: 'none' })
      .on(
        '*',
        (__, { body, headers }) => {
          spoil(body);
          (headers as Record<string, string>)['x-own'] = 'changed';
        },
        { name: 'first' },
      )
      .on('*', (__, { body, headers }) => seen.push([Buffer.from(body).toString(), headers['x-own']]), {
        name: 'second',
      });
    const text = `{"type":"a","text":"${'x'.repeat(200)}"}`;
    const headers = { 'x-own': 'as it came' };
    expect(
      (await source.receive(new Request('http://localhost/', { method: 'POST', body: text, headers }))).status,
    ).toBe(200);
    await rig.attempts(2);
    expect(seen).toEqual([[text, 'as it came']]);
  });

  it('keeps a body where it lies, unless it would keep much else in memory with it', async () => {
    await rig.source('bodies', { provider: 'none' }).ready();
    const published = vi.spyOn(rig.engine, 'publish');
    const all = new Uint8Array(Buffer.from(`{"type":"a"}{"type":"b","text":"${'x'.repeat(200)}"}`));
    for (const body of [all.subarray(0, 12), all.subarray(12)])
      await rig.receiver.receive('bodies', { method: 'POST', url: 'http://localhost/', headers: {}, body });
    const kept = published.mock.calls.map(([{ payload }]) => payload);
    expect(kept.map((bytes) => Buffer.from(bytes).toString())).toEqual([
      '{"type":"a"}',
      Buffer.from(all.subarray(12)).toString(),
    ]);
    expect(kept.map(({ buffer }) => buffer.byteLength)).toEqual([12, all.byteLength]);
  });

  it('ALL-06 why a GET was no challenge is in the log', async () => {
    const source = rig.source('meta', { settings: { appSecret: 's1', verifyToken: 'right' } });
    const query = 'hub.mode=subscribe&hub.challenge=1&hub.verify_token=wrong';
    expect((await source.receive(new Request(`http://localhost/?${query}`))).status).toBe(405);
    expect(rig.log.at(-1)?.fields.reason).toContain('hub.verify_token matches no verifyToken');
  });
  it('Next.js, opened with the first request: building loads the route and opens nothing, a failed opening is tried again', async () => {
    let openings = 0;
    const { POST } = nextRoute(async () => {
      openings += 1;
      if (openings === 1) throw new Error('the database is not there yet');
      return declare();
    });
    expect(openings).toBe(0);
    await expect(POST(post(event()))).rejects.toThrow('not there yet');
    expect((await POST(post(event()))).status).toBe(200);
    expect((await POST(post(event()))).status).toBe(200);
    expect(openings).toBe(2);
  });

  it('ALL-06 nextRoute without a function, or with one that opens no source, says what it takes', async () => {
    const open = async () => undefined;
    const said = { code: 'validation', message: expect.stringContaining('nextRoute(async () => (await openHooks())') };
    expect(() => nextRoute({} as never)).toThrow(expect.objectContaining(said));
    await expect(nextRoute(open as never).POST(post(event()))).rejects.toMatchObject(said);
  });

  it('ALL-06 a request of Node or Express, or none, says what takes those', async () => {
    const told: unknown[] = [];
    const app = express();
    const source = declare();
    await source.ready();
    app.post('/webhooks', async (request, response) => {
      await source.receive(request as never).catch((error: unknown) => told.push(error));
      response.end();
    });
    await send(await listen(createServer(app)));
    await rig
      .source('other', { provider: 'none' })
      .receive(undefined as never)
      .catch((error: unknown) => told.push(error));
    const said = { code: 'validation', message: expect.stringMatching(/takes a fetch Request\. .* mount node\(\)/) };
    expect(told).toMatchObject([said, said]);
    expect(await rig.messages('stripe')).toEqual([]);
  });

  it('ALL-06 Fastify without a path, or with the plugin as a handler, says how it is registered', async () => {
    const source = declare();
    expect(() => source.fastify(undefined as never)).toThrow(/takes the path .* app\.register\(source\.fastify\(/);
    const server = fastify();
    closing.push(() => server.close());
    server.post('/webhooks', source.fastify('/webhooks') as never);
    const answer = await server.inject({ method: 'POST', url: '/webhooks', payload: {} });
    expect(answer.json()).toMatchObject({
      statusCode: 500,
      message: expect.stringContaining('write app.register(source.fastify("/webhooks"))'),
    });
  });

  it('ALL-06 Fastify with a path without its slash says so, unless a prefix has it', async () => {
    const [server, prefixed] = [fastify(), fastify()];
    closing.push(
      () => server.close(),
      () => prefixed.close(),
    );
    const source = declare();
    const registered = async () => void (await server.register(source.fastify('webhooks')));
    await expect(registered()).rejects.toThrow('slash: write app.register(source.fastify("/webhooks"))');
    await prefixed.register(source.fastify('stripe'), { prefix: '/webhooks/' });
    const payload = event();
    const answer = await prefixed.inject({
      method: 'POST',
      url: '/webhooks/stripe',
      payload,
      headers: signed(payload),
    });
    expect(answer.statusCode).toBe(200);
  });

  it('ALL-06 node and hono that were mounted without being called answer at once, and say so', async () => {
    const source = declare();
    await source.ready();
    const said = /write source\.node\(\)/;
    const plain = await send(await listen(createServer(source.node)));
    expect([plain.status, plain.headers.get('retry-after')]).toEqual([503, '5']);
    expect(errorsIn(rig)).toContainEqual(expect.stringMatching(said));

    const told: unknown[] = [];
    const app = express();
    app.post('/webhooks', source.node);
    app.use((error: Error, _: express.Request, response: express.Response, __: express.NextFunction) => {
      told.push(error);
      response.status(500).end();
    });
    expect((await send(await listen(createServer(app)))).status).toBe(500);
    expect(() => (source.node as (path: string) => unknown)('/webhooks')).toThrow(said);

    const hono = new Hono().all('/webhooks', source.hono as never).onError((error, context) => {
      told.push(error);
      return context.body(null, 500);
    });
    expect((await hono.request(post(event()))).status).toBe(500);
    expect(told).toMatchObject([
      { code: 'validation', message: expect.stringMatching(said) },
      { code: 'validation', message: expect.stringContaining('write source.hono()') },
    ]);
    expect(await rig.messages('stripe')).toEqual([]);
  });

  it('a Request whose body was read says what to do', async () => {
    const request = post(event());
    await request.text();
    await expect(declare().receive(request)).rejects.toThrow(/before anything calls its json\(\)/);
  });
});
