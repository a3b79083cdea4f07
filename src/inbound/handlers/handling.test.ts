/** Handlers behind the real engine and a real store, in virtual time. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Endpoint, Source } from '../../model/index.ts';
import { createEngineRig, type EngineRig, LONG_LEASE_MS } from '../../testing/engine-rig.ts';
import { createManualClock } from '../../testing/manual-clock.ts';
import { type Handler, type HandlerContext, SILENT } from './handler.ts';
import { PermanentError } from './handler-errors.ts';
import { createHandlerRegistry } from './handler-registry.ts';

const MINUTE_MS = 60_000;
const SOURCE: Source = {
  id: 'src_1',
  name: 'payments',
  provider: 'stripe',
  settings: '{}',
  policy: 'payments-inbound',
  onUnknownEvent: 'keep',
  dedupe: { by: 'provider' },
  forwardAs: 'standard-webhooks',
  metadata: {},
  createdAt: 0,
  updatedAt: 0,
};

let rig: EngineRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

type Over = Partial<Source> & Pick<Partial<Endpoint>, 'eventTypes'> & { takesWork?: boolean };

/** `blockedMs`: what has passed while a handler kept the process busy, and no timer ran. */
async function setUp(handler: Handler, over: Over = {}, blockedMs = () => 0) {
  const clock = createManualClock();
  const handlers = createHandlerRegistry({
    clock: { ...clock, now: () => clock.now() + blockedMs() },
    logger: SILENT,
  });
  const { eventTypes, takesWork = true, ...source } = over;
  rig = await createEngineRig({ clock, handlers, takesWork, leaseMs: LONG_LEASE_MS });
  await rig.store.insert({ kind: 'source', record: { ...SOURCE, ...source } });
  const { id } = await rig.endpoint('handler:test', { id: 'hdl_1', applicationId: 'src_1', secrets: [] });
  handlers.bind(id, { title: 'test', eventTypes, handler });
  const { engine, store } = rig;
  let count = 0;
  return {
    clock,
    rig,
    handlers,
    async receive(payload: unknown = { id: 'evt_1' }, fields: object = {}) {
      count += 1;
      const published = await engine.publish({
        application: 'src_1',
        eventType: 'invoice.paid',
        eventId: `evt_${count}`,
        payload:
          typeof payload === 'string'
            ? new TextEncoder().encode(payload)
            : new TextEncoder().encode(JSON.stringify(payload)),
        headers: { 'x-from': 'test' },
        contentType: 'application/json',
        ...fields,
      });
      if (published.kind !== 'accepted') throw new Error(published.kind);
      return published.message.id;
    },
    async delivery(messageId: string) {
      const [only] = (await store.listDeliveries({ messageId, limit: 2, order: 'ascending' })).items;
      if (only === undefined) throw new Error('no delivery');
      return only;
    },
  };
}

describe('a handler', () => {
  it('PAY-01 PAY-06 is called at once with the event, its id and what came with it', async () => {
    const calls: [unknown, HandlerContext][] = [];
    const { receive, delivery, rig } = await setUp((event, context) => void calls.push([event, context]));
    const id = await receive({ id: 'evt_1', amount: 5 });
    await rig.attempts(1);
    expect(calls).toHaveLength(1);
    const [event, context] = calls[0] ?? [];
    expect(event).toEqual({ id: 'evt_1', amount: 5 });
    expect(context).toMatchObject({
      eventId: 'evt_1',
      idempotencyKey: 'evt_1',
      eventType: 'invoice.paid',
      attempt: 1,
      maxAttempts: 4,
      messageId: id,
      headers: { 'x-from': 'test' },
    });
    expect(await delivery(id)).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  it('PAY-02 SUB-04 is called again after 1, 5 and 15 minutes, and then the event is a dead letter', {
    timeout: 120_000,
  }, async () => {
    const times: number[] = [];
    const { clock, receive, delivery, rig } = await setUp(() => {
      times.push(clock.now());
      throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' });
    });
    const start = clock.now();
    const id = await receive();
    await rig.attempts(1);
    for (const [index, minutes] of [1, 5, 15].entries()) {
      expect((await delivery(id)).state).toBe('pending');
      await clock.advance(minutes * MINUTE_MS - 1);
      expect(times).toHaveLength(index + 1);
      await clock.advance(1);
      await rig.attempts(index + 2);
    }
    expect(times.map((at) => at - start)).toEqual([0, 1, 6, 21].map((minutes) => minutes * MINUTE_MS));
    expect(await delivery(id)).toMatchObject({ state: 'dead', deadCause: 'exhausted', maxAttempts: 4 });
  });

  it('PAY-03 PAY-04 SUB-12 an error page where JSON was asked for is retried; an event that is no JSON itself is not', async () => {
    const { receive, delivery, rig } = await setUp(async () => {
      await new Response('<html>503 Service Unavailable</html>', { status: 503 }).json();
    });
    const page = await receive();
    const broken = await receive('{"id":');
    await rig.attempts(2);
    expect((await delivery(page)).state).toBe('pending');
    expect(await delivery(broken)).toMatchObject({
      state: 'dead',
      deadCause: 'rejected',
      lastError: expect.stringContaining('the body of the event cannot be read'),
    });
  });

  it('SUB-03 the 30 s × 2ⁿ⁻¹ schedule makes three retries', async () => {
    const times: number[] = [];
    const { clock, receive, rig } = await setUp(
      () => {
        times.push(clock.now());
        throw new Error('not yet');
      },
      { policy: 'stripe-subscriptions' },
    );
    const start = clock.now();
    await receive();
    await clock.advance(10 * MINUTE_MS);
    await rig.attempts(4);
    expect(times.map((at) => at - start)).toEqual([0, 30_000, 90_000, 210_000]);
  });

  it('PAY-06 a retry gets the same event id, headers and bytes, read from the store', async () => {
    const seen: [string, string, number][] = [];
    const { clock, receive, rig } = await setUp((_, { eventId, headers, attempt }) => {
      seen.push([eventId, headers['x-from'] ?? '', attempt]);
      if (attempt === 1) throw new Error('once more');
    });
    await receive();
    await rig.attempts(1);
    await clock.advance(MINUTE_MS);
    await rig.attempts(2);
    expect(seen).toEqual([
      ['evt_1', 'test', 1],
      ['evt_1', 'test', 2],
    ]);
  });

  it.each<[string, () => unknown, string]>([
    ['a PermanentError', () => Promise.reject(new PermanentError('no such plan')), 'permanent'],
    ['a validation error', () => Promise.reject(Object.assign(new Error('x'), { name: 'ZodError' })), 'validation'],
  ])('PAY-04 SUB-12 %s makes a dead letter at once, marked with the error', async (_, handler, error) => {
    const { receive, delivery, rig } = await setUp(handler);
    const id = await receive();
    await rig.attempts(1);
    const dead = await delivery(id);
    expect(dead).toMatchObject({ state: 'dead', deadCause: 'rejected', attempts: 1 });
    const [attempt] = (await rig.store.listAttempts({ deliveryId: dead.id, limit: 9, order: 'ascending' })).items;
    expect(attempt).toMatchObject({ error, url: 'handler:test' });
  });

  it('SUB-12 a body that is not the JSON it claims to be is a dead letter at once', async () => {
    const { receive, delivery, rig } = await setUp(() => {});
    const id = await receive('{"cut');
    await rig.attempts(1);
    expect(await delivery(id)).toMatchObject({ state: 'dead', deadCause: 'rejected' });
  });

  it('PAY-04 an event of a type that it is not for fails at once', async () => {
    let called = false;
    const { receive, delivery, rig } = await setUp(
      () => {
        called = true;
      },
      { eventTypes: ['invoice.voided'] },
    );
    const id = await receive();
    await rig.attempts(1);
    expect(await delivery(id)).toMatchObject({ state: 'dead', deadCause: 'rejected' });
    expect((await delivery(id)).reason).toContain('unknown event type');
    expect(called).toBe(false);
  });

  it('PAY-03 that returns the answer of a server that failed has failed, as if it had thrown it', async () => {
    const answers = [new Response('later', { status: 503, headers: { 'retry-after': '7' } }), new Response('thanks')];
    const { clock, receive, delivery, rig } = await setUp(() => answers.shift());
    const id = await receive();
    await rig.attempts(1);
    expect(await delivery(id)).toMatchObject({ state: 'pending', dueAt: clock.now() + 7000 });
    await clock.advance(7000);
    await rig.attempts(2);
    expect(await delivery(id)).toMatchObject({ state: 'delivered' });
  });

  it('may copy its context, derive from it and wrap it: the bytes and the signal go along', async () => {
    const calls: HandlerContext[] = [];
    const { receive, rig } = await setUp((_, context) => {
      calls.push(context, { ...context }, Object.create(context), new Proxy(context, {}));
    });
    await receive('{"id":"evt_1"}');
    await rig.attempts(1);
    const [context, copy] = calls;
    expect(Object.keys(copy ?? {})).toEqual(Object.keys(context ?? {}));
    for (const { body, signal } of calls) {
      expect(new TextDecoder().decode(body)).toBe('{"id":"evt_1"}');
      expect(signal).toBe(context?.signal);
      expect(signal.aborted).toBe(false);
    }
    expect(Object.getOwnPropertySymbols(copy ?? {})).toEqual([]);
  });

  it('PAY-03 that takes longer than the policy allows is told so by its signal, counts as failed, and is retried', async () => {
    let signal: AbortSignal | undefined;
    const { clock, receive, delivery, rig } = await setUp((_, context) => {
      signal = context.signal;
      return new Promise(() => {});
    });
    const id = await receive();
    await clock.advance(30_000 - 1);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    await rig.attempts(1);
    expect(signal?.aborted).toBe(true);
    expect(await delivery(id)).toMatchObject({ state: 'pending', attempts: 1 });
    expect((await delivery(id)).reason).toContain('timeout');
  });

  it('PAY-03 that blocks for half of its time and then waits has the other half, and no more', async () => {
    let blockedMs = 0;
    const handler = () => {
      blockedMs = 15_000;
      return new Promise(() => {});
    };
    const { clock, receive, delivery, rig } = await setUp(handler, {}, () => blockedMs);
    const id = await receive();
    await clock.advance(15_000 - 1);
    expect(await delivery(id)).toMatchObject({ state: 'leased' });
    await clock.advance(1);
    await rig.attempts(1);
    expect(await delivery(id)).toMatchObject({ state: 'pending', reason: expect.stringContaining('timeout') });
  });

  it('an event that nobody here has the function for waits, until a process has it', async () => {
    const { rig, handlers } = await setUp(() => {});
    const { id } = await rig.endpoint('handler:other', { id: 'hdl_2', applicationId: 'src_1', secrets: [] });
    rig.engine.changed('src_1');
    const { store, engine } = rig;
    const published = await engine.publish({
      application: 'src_1',
      eventType: 'a',
      payload: new TextEncoder().encode('{}'),
      headers: {},
    });
    if (published.kind !== 'accepted') throw new Error(published.kind);
    await rig.attempts(1);
    const read = async () =>
      (await store.listDeliveries({ destinationId: id, limit: 1, order: 'ascending' })).items[0]?.state;
    expect(await read()).toBe('pending');
    handlers.bind(id, { title: 'other', eventTypes: undefined, handler: () => {} });
    engine.wake();
    await rig.attempts(2);
    expect(await read()).toBe('delivered');
  });

  it('SUB-10 whoever asks for what is due gets the longest due started first, as it came', async () => {
    const started: unknown[] = [];
    const set = await setUp((event, { eventId, headers }) => void started.push([event, eventId, headers]), {
      takesWork: false,
    });
    const sent: unknown[] = [];
    for (let n = 1; n <= 24; n++) {
      await set.receive({ n });
      sent.push([{ n }, `evt_${n}`, { 'x-from': 'test' }]);
      await set.clock.advance(3);
    }
    expect(await set.rig.engine.workDue(100)).toMatchObject({ delivered: 24 });
    expect(started).toEqual(sent);
  });

  it('a stop ends what runs as interrupted, and the next start runs it again', async () => {
    const started: number[] = [];
    const { receive, delivery, rig } = await setUp((_, { attempt }) => {
      started.push(attempt);
      return started.length === 1 ? new Promise(() => {}) : undefined;
    });
    const id = await receive();
    await expect.poll(() => started.length).toBe(1);
    await rig.engine.stop(0);
    const stopped = await delivery(id);
    expect(stopped.state).toBe('pending');
    expect(stopped.reason).toContain('interrupted');
  });
});
