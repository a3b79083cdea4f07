/** The transactional inbox on a real PostgreSQL: effects and "processed" in one commit. */
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../store/index.ts';
import { openPostgresStore } from '../../store/postgres/index.ts';
import { createTestSchema, type TestSchema } from '../../testing/postgres-schema.ts';
import { createInboundRig, type InboundRig } from '../testing/inbound-rig.ts';
import type { HandlerContext } from './handler.ts';

const SECRET = 'whsec_test';
const QUICK = { extends: 'payments-inbound', schedule: { kind: 'explicit', delaysMs: [20, 20, 20] } };
const stripe = new Stripe('sk_test_1');

let schema: TestSchema;
let store: Store;
let rig: InboundRig;
let table = '';

beforeAll(async () => {
  schema = await createTestSchema();
  table = `public.effects_${schema.name}`;
  await schema.query(`CREATE TABLE ${table} (event_id text)`);
});
afterAll(async () => {
  await schema.query(`DROP TABLE ${table}`);
  await schema.drop();
});
beforeEach(async () => {
  store = await openPostgresStore({ url: schema.url, poolSize: 3 });
  await schema.empty();
  await schema.query(`DELETE FROM ${table}`);
  rig = await createInboundRig({ store });
});
afterEach(async () => {
  await rig[Symbol.asyncDispose]();
  await store.close();
});

const effects = () => schema.query<{ event_id: string }>(`SELECT event_id FROM ${table}`);

async function receive(handler: (context: HandlerContext) => unknown, id = 'evt_1'): Promise<void> {
  const source = rig
    .source('stripe', { secret: SECRET, policy: QUICK })
    .on('invoice.paid', (_, context) => handler(context), { transaction: true });
  const payload = JSON.stringify({ id, object: 'event', type: 'invoice.paid', created: 1, data: {} });
  const headers = { 'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET }) };
  const answer = await source.receive(new Request('http://localhost/', { method: 'POST', body: payload, headers }));
  expect(answer.status).toBe(200);
}

const write = ({ transaction, eventId }: HandlerContext) =>
  transaction?.query(`INSERT INTO ${table} (event_id) VALUES ($1)`, [eventId]);

describe('a transactional handler', () => {
  it('PAY-06 writes its effects and that the event is processed in one commit', async () => {
    const seen: number[] = [];
    await receive(async (context) => {
      await write(context);
      seen.push((await effects()).length);
    });
    await rig.attempts(1);
    expect(seen).toEqual([0]);
    expect(await effects()).toEqual([{ event_id: 'evt_1' }]);
    expect(await rig.deliveries()).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  });

  it('that throws leaves nothing behind, and its retry writes once', async () => {
    await receive(async (context) => {
      await write(context);
      if (context.attempt < 3) throw new Error('after the write');
    });
    await rig.attempts(3);
    expect(await effects()).toEqual([{ event_id: 'evt_1' }]);
    expect(await rig.deliveries()).toMatchObject([{ state: 'delivered', attempts: 3 }]);
  });

  it('PAY-06 that rolls back by itself is a dead letter that says so, not an event without its effects', async () => {
    await receive(async (context) => {
      await write(context);
      await context.transaction?.query('ROLLBACK');
    });
    await rig.attempts(1);
    expect(await effects()).toEqual([]);
    expect(await rig.deliveries()).toMatchObject([
      {
        state: 'dead',
        attempts: 1,
        lastError: expect.stringContaining('leave BEGIN, COMMIT and ROLLBACK to Posthorn'),
      },
    ]);
  });

  it('PAY-06 that commits by itself and throws is a dead letter that says both, and is not tried again', async () => {
    await receive(async (context) => {
      await write(context);
      await context.transaction?.query('COMMIT');
      throw new Error('after the commit');
    });
    await rig.attempts(1);
    expect(await effects()).toEqual([{ event_id: 'evt_1' }]);
    expect(await rig.deliveries()).toMatchObject([
      { state: 'dead', attempts: 1, lastError: expect.stringContaining('ended its transaction itself') },
    ]);
    const [dead] = await rig.deliveries();
    expect(dead?.lastError).toContain('after the commit');
  });

  it('whose delivery was taken over meanwhile leaves nothing behind', async () => {
    let taken = 0;
    let done: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      done = resolve;
    });
    await receive(async (context) => {
      await write(context);
      // Another node, which has waited longer than the lease.
      const now = rig.clock.now() + 60_000;
      const { epoch } = await store.join({ now, leaseMs: 600_000, name: 'other' });
      taken += (await store.takeOver({ epoch, now, limit: 10 })).length;
      done();
    });
    await ended;
    await rig.engine.stop(1000);
    expect(taken).toBe(1);
    expect(await effects()).toEqual([]);
    expect(await rig.deliveries()).toMatchObject([{ state: 'leased', attempts: 0 }]);
  });

  it('whose connection is killed leaves nothing behind, and its retry writes once', async () => {
    await receive(async (context) => {
      await write(context);
      if (context.attempt > 1) return;
      const answer = await context.transaction?.query('SELECT pg_backend_pid() AS pid');
      const [backend] = (answer?.rows ?? []) as { pid: number }[];
      await schema.query('SELECT pg_terminate_backend($1)', [backend?.pid]);
    });
    await rig.attempts(2);
    expect(await effects()).toEqual([{ event_id: 'evt_1' }]);
    expect(await rig.deliveries()).toMatchObject([{ state: 'delivered', attempts: 2 }]);
  });

  it('cannot write any more once its time is over', async () => {
    let late: Promise<unknown> | undefined;
    const policy = { ...QUICK, timeouts: { connectMs: 50, totalMs: 50 } };
    const source = rig.source('stripe', { secret: SECRET, policy }).on(
      'invoice.paid',
      async (_, context) => {
        if (context.attempt > 1) return write(context);
        await new Promise((resolve) => setTimeout(resolve, 120));
        late = Promise.resolve(write(context)).catch((error: unknown) => error);
        return late;
      },
      { transaction: true },
    );
    const payload = JSON.stringify({ id: 'evt_1', object: 'event', type: 'invoice.paid', created: 1, data: {} });
    const headers = { 'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET }) };
    await source.receive(new Request('http://localhost/', { method: 'POST', body: payload, headers }));
    await rig.attempts(2);
    await expect.poll(() => late).toBeDefined();
    expect(String(await late)).toContain('this transaction is over');
    expect(await effects()).toEqual([{ event_id: 'evt_1' }]);
  });
});

describe('the connection of a transactional handler', () => {
  it('is as `pg` makes them: numbers of 64 bits whole, plans of the planner, and open as long as the handler may run', async () => {
    const seen: unknown[] = [];
    await receive(async ({ transaction }) => {
      const ask = async (text: string) => seen.push(Object.values((await transaction?.query(text))?.rows[0] ?? {})[0]);
      await ask('SELECT 9007199254740993::int8');
      for (const name of ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'plan_cache_mode', 'search_path']) {
        await ask(`SHOW ${name}`);
      }
      await ask(`SELECT setting::int >= 30000 FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'`);
    });
    await rig.attempts(1);
    expect(seen).toEqual(['9007199254740993', 'on', 'on', 'on', 'auto', '"$user", public', true]);
    expect(await rig.deliveries()).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  });

  it.each(['COMMIT', 'ROLLBACK', 'COMMIT AND CHAIN'])(
    'is not used again after a handler that said %s',
    async (text) => {
      const single = await openPostgresStore({ url: schema.url, poolSize: 1 });
      const alone = await createInboundRig({ store: single });
      const pids: unknown[] = [];
      let sent = 0;
      const source = alone.source('stripe', { secret: SECRET, policy: QUICK }).on(
        'invoice.paid',
        async (_, { eventId, transaction }) => {
          pids.push((await transaction?.query('SELECT pg_backend_pid() AS pid'))?.rows);
          if (eventId === 'evt_1') await transaction?.query(text);
        },
        { transaction: true },
      );
      for (const id of ['evt_1', 'evt_2', 'evt_3']) {
        const payload = JSON.stringify({ id, object: 'event', type: 'invoice.paid', created: 1, data: {} });
        const headers = { 'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET }) };
        await source.receive(new Request('http://localhost/', { method: 'POST', body: payload, headers }));
        await alone.attempts(++sent);
      }
      const done = (await alone.deliveries()).map(({ state }) => state);
      await alone[Symbol.asyncDispose]();
      await single.close();
      expect(done).toEqual(['dead', 'delivered', 'delivered']);
      expect(pids[1]).not.toEqual(pids[0]);
      expect(pids[2]).toEqual(pids[1]);
    },
  );

  it('PAY-03 is waited for when all are busy, and that is no attempt', async () => {
    const small = await openPostgresStore({ url: schema.url, poolSize: 2, connectTimeoutMs: 100 });
    const crowded = await createInboundRig({ store: small });
    let [running, most] = [0, 0];
    const source = crowded.source('stripe', { secret: SECRET, policy: QUICK }).on(
      '*',
      async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 150));
        running -= 1;
      },
      { transaction: true },
    );
    await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const payload = JSON.stringify({ id: `evt_${i}`, object: 'event', type: 'a', created: 1, data: {} });
        const headers = { 'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET }) };
        await source.receive(new Request('http://localhost/', { method: 'POST', body: payload, headers }));
      }),
    );
    await crowded.attempts(8);
    expect(most).toBe(2);
    const done = (await crowded.deliveries()).map(({ state, attempts }) => `${state} ${attempts}`);
    await crowded[Symbol.asyncDispose]();
    await small.close();
    expect(done).toEqual(Array.from({ length: 8 }, () => 'delivered 1'));
  });
});

describe('receiving on PostgreSQL', () => {
  it('PAY-06 SUB-02 of fifty copies at once one is stored and handled, and a conflict is counted', async () => {
    let calls = 0;
    const source = rig.source('stripe', { secret: SECRET }).on('*', () => void calls++);
    const send = (extra: object) => {
      const payload = JSON.stringify({ id: 'evt_1', object: 'event', type: 'a', created: 1, data: {}, ...extra });
      const headers = { 'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET }) };
      return source.receive(new Request('http://localhost/', { method: 'POST', body: payload, headers }));
    };
    const answers = await Promise.all(Array.from({ length: 50 }, () => send({})));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(50);
    expect((await send({ other: true })).status).toBe(200);
    await rig.attempts(1);
    expect(calls).toBe(1);
    expect(await rig.messages('stripe')).toMatchObject([{ eventId: 'evt_1', conflicts: 1 }]);
  });

  it('SUB-09 PAY-02 SUB-04 the two relations show what waits and what is dead', async () => {
    const source = rig.source('stripe', { secret: SECRET }).on('*', (_, { eventId }) => {
      throw Object.assign(new Error('x'), eventId === 'evt_1' ? { name: 'ZodError' } : { code: 'ECONNREFUSED' });
    });
    for (const id of ['evt_1', 'evt_2']) {
      const payload = JSON.stringify({ id, object: 'event', type: 'a', created: 1, data: {} });
      const headers = { 'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET }) };
      await source.receive(new Request('http://localhost/', { method: 'POST', body: payload, headers }));
    }
    await rig.attempts(2);
    expect(await schema.query('SELECT stripe_event_id, retry_count, max_retries FROM webhook_retry_queue')).toEqual([
      { stripe_event_id: 'evt_2', retry_count: 0, max_retries: 3 },
    ]);
    expect(
      await schema.query("SELECT stripe_event_id, payload::jsonb ->> 'id' AS id FROM webhook_dead_letter_queue"),
    ).toEqual([{ stripe_event_id: 'evt_1', id: 'evt_1' }]);
  });
});
