/** Handlers that behave badly: nothing is lost, and what follows is what the policy says. */
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createInboundRig, type InboundRig } from '../testing/inbound-rig.ts';
import type { Handler } from './handler.ts';

const SECRET = 'whsec_test';
const stripe = new Stripe('sk_test_1');
const QUICK = { extends: 'payments-inbound', schedule: { kind: 'explicit', delaysMs: [10, 10] } };

describe('a handler', () => {
  let rig: InboundRig;
  beforeEach(async () => {
    rig = await createInboundRig({ leaseMs: 400 });
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  async function receive(handler: Handler, policy: object = QUICK): Promise<void> {
    await rig.source('stripe', { secret: SECRET, policy }).on('*', handler).ready();
    await send('evt_1');
  }

  async function send(id: string): Promise<void> {
    const payload = JSON.stringify({ id, object: 'event', type: 'a', created: 1, data: {} });
    const headers = { 'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET }) };
    const request = { method: 'POST', url: 'http://localhost/', headers, body: Buffer.from(payload) };
    expect((await rig.receiver.receive('stripe', request)).status).toBe(200);
  }

  const attempts = async () => {
    const [only] = await rig.deliveries();
    const page = { deliveryId: only?.id ?? '', limit: 10, order: 'ascending' as const };
    return (await rig.store.listAttempts(page)).items;
  };

  const unreadable = new Proxy(new Error('x'), {
    get() {
      throw new Error('no');
    },
  });
  it.each<[string, () => unknown, RegExp]>([
    ['a string', () => Promise.reject('not an error'), /^not an error$/],
    ['nothing', () => Promise.reject(undefined), /^undefined$/],
    ['a number', () => Promise.reject(42), /^42$/],
    ['an object without a prototype', () => Promise.reject(Object.create(null)), /^\{\}$/],
    ['a symbol', () => Promise.reject(Symbol('s')), /^Symbol\(s\)$/],
    ['something that throws when it is read', () => Promise.reject(unreadable), /cannot be read/],
    ['an error of ten megabytes', () => Promise.reject(new Error('x'.repeat(10_000_000))), /^x{4096}…$/],
    ['an error that is its own cause', () => Promise.reject(selfCaused()), /^round/],
    [
      'by a thenable that is no promise',
      // biome-ignore lint/suspicious/noThenProperty: that is what is tried
      () => ({ then: (_: unknown, reject: (error: Error) => void) => reject(new Error('thenable')) }),
      /^thenable\n/,
    ],
    [
      'by a thenable that calls back twice',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: that is what is tried
        then(_: unknown, reject: (error: Error) => void) {
          reject(new Error('first'));
          reject(new Error('second'));
        },
      }),
      /^first\n/,
    ],
    ['at once instead of later', () => thrower(), /^at once\n/],
  ])('PAY-03 that throws %s is retried, and its error is kept, shortened', async (_, handler, message) => {
    await receive((_event, { attempt }) => (attempt === 1 ? handler() : undefined));
    await rig.attempts(2);
    const [first, second] = await attempts();
    expect(first).toMatchObject({ error: 'unexpected', number: 1, decision: { kind: 'retry' } });
    expect(first?.response).toMatch(message);
    expect(second?.decision.kind).toBe('delivered');
  });

  it('ALL-02 that blocks the event loop beyond the lease is recorded once, and the events behind it are handled', async () => {
    const runs: string[] = [];
    const handler: Handler = (_event, { eventId }) => {
      runs.push(eventId);
      const until = Date.now() + (eventId === 'evt_1' ? 900 : 0);
      while (Date.now() < until);
    };
    await receive(handler);
    await send('evt_2');
    await rig.attempts(2);
    expect(runs).toEqual(['evt_1', 'evt_2']);
    const deliveries = await rig.deliveries();
    expect(deliveries.map(({ state, attempts: count }) => [state, count])).toEqual([
      ['delivered', 1],
      ['delivered', 1],
    ]);
  });

  it('ALL-02 BUD-07 whose event another node took over meanwhile changes nothing when it ends', async () => {
    let done: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      done = resolve;
    });
    await receive(async () => {
      const now = rig.clock.now() + 60_000;
      const { epoch } = await rig.store.join({ now, leaseMs: 600_000, name: 'other' });
      expect(await rig.store.takeOver({ epoch, now, limit: 10 })).toHaveLength(1);
      done();
    });
    await ended;
    await rig.engine.stop(1000);
    expect(await attempts()).toEqual([]);
    expect(await rig.deliveries()).toMatchObject([{ state: 'leased', attempts: 0 }]);
  });

  it('PAY-03 that does not heed its signal counts as timed out, and what it says later is not heard', async () => {
    const policy = { ...QUICK, timeouts: { connectMs: 60, totalMs: 60 } };
    const signals: AbortSignal[] = [];
    const late: Promise<void>[] = [];
    await receive((_event, { attempt, signal }) => {
      signals.push(signal);
      if (attempt > 1) return undefined;
      const slow = new Promise<void>((resolve) => setTimeout(resolve, 150));
      late.push(slow);
      return slow.then(() => Promise.reject(new Error('after its time')));
    }, policy);
    await rig.attempts(2);
    await Promise.all(late);
    const recorded = await attempts();
    expect(recorded.map(({ error, decision }) => [error, decision.kind])).toEqual([
      ['timeout', 'retry'],
      [undefined, 'delivered'],
    ]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it('that asks for its signal only after its time gets one that is aborted', async () => {
    const policy = { ...QUICK, timeouts: { connectMs: 30, totalMs: 30 } };
    let asked: AbortSignal | undefined;
    await receive(async (_event, context) => {
      if (context.attempt > 1) return;
      await new Promise((resolve) => setTimeout(resolve, 80));
      asked = context.signal;
    }, policy);
    await rig.attempts(2);
    await expect.poll(() => asked?.aborted).toBe(true);
  });
});

function selfCaused(): Error {
  const error = new Error('round');
  error.cause = error;
  return error;
}

function thrower(): never {
  throw new Error('at once');
}
