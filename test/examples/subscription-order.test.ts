/** The handlers of examples/stripe-subscriptions under every order that Stripe may send events in. */
import fc from 'fast-check';
import type { DeclaredSource, HandlerContext } from 'posthorn';
import { expect, it } from 'vitest';
import { openDatabase } from '../../examples/stripe-subscriptions/database.ts';
import { handleSubscriptions, type StripeEvents } from '../../examples/stripe-subscriptions/handlers.ts';
import { accountOf, saveUser } from '../../examples/stripe-subscriptions/subscriptions.ts';
import { type EventFields, stripeEvent } from './stripe-events.ts';

const at = (minute: number) => 1_767_225_600 + minute * 60;
const plan = (tier: string, status: string, minute: number) => ({
  created: at(minute),
  object: {
    status,
    items: { data: [{ ...PERIOD, price: { id: `price_${tier}`, lookup_key: tier } }] },
  },
});
const PERIOD = { current_period_start: at(0), current_period_end: at(43_200) };

const LIFE = [
  stripeEvent('customer.subscription.created', plan('pro', 'incomplete', 0)),
  // In the same second as its creation, as Stripe often does it.
  stripeEvent('customer.subscription.updated', plan('pro', 'active', 0)),
  stripeEvent('customer.subscription.updated', plan('team', 'active', 10)),
  stripeEvent('invoice.payment_failed', { created: at(20) }),
  stripeEvent('customer.subscription.updated', plan('team', 'past_due', 21)),
  stripeEvent('invoice.paid', { created: at(30) }),
  stripeEvent('customer.subscription.updated', plan('pro', 'active', 31)),
];
const END = stripeEvent('customer.subscription.deleted', { ...plan('pro', 'canceled', 40) });

/** Hands the events over in this order; what asks for another try gets it after the others. */
async function live(events: readonly EventFields[]) {
  const handlers = new Map<string, (event: unknown, context: HandlerContext) => unknown>();
  const source = {
    on(type: string, handler: (event: unknown, context: HandlerContext) => unknown) {
      handlers.set(type, handler);
      return source;
    },
  };
  const database = await openDatabase(':memory:');
  handleSubscriptions(source as unknown as DeclaredSource<StripeEvents>, database);
  await saveUser(database, { id: 'u1', email: 'jenny@example.com', stripe_customer_id: 'cus_1' });
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const queue = [...events];
  for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
    const context = { eventId: event.id, logger: silent } as unknown as HandlerContext;
    try {
      await handlers.get((event as unknown as { type: string }).type)?.(event, context);
    } catch (error) {
      if ((error as Error).name !== 'RetryableError') throw error;
      queue.push(event);
    }
  }
  const account = await accountOf(database, 'u1');
  await database.close();
  return account;
}

/** Any order, and any of them again. */
const anyOrder = (events: readonly EventFields[]) =>
  fc
    .tuple(fc.subarray([...events]), fc.constant(events))
    .chain(([again, all]) => fc.shuffledSubarray([...all, ...again], { minLength: all.length + again.length }));

/** How the record ends in order is how it ends in any order. */
async function expectOneEnd(events: readonly EventFields[], end: object): Promise<void> {
  const inOrder = await live(events);
  expect(inOrder).toMatchObject(end);
  await fc.assert(
    fc.asyncProperty(anyOrder(events), async (shuffled) => {
      expect(await live(shuffled)).toEqual(inOrder);
    }),
    { numRuns: 100 },
  );
}

it('SUB-05 SUB-02 in whatever order and however often its events come, the record ends as the newest says', async () => {
  await expectOneEnd(LIFE, { tier: 'pro', subscriptions: [{ tier: 'pro', status: 'active' }] });
});

it('SUB-05 an update from the second of the creation is never overwritten by it', async () => {
  await expectOneEnd(LIFE.slice(0, 2), { tier: 'pro', subscriptions: [{ status: 'active' }] });
});

it('SUB-05 a change of plan that comes after a later invoice changes the plan and leaves the status', async () => {
  const [, first, change, failed] = LIFE as [EventFields, EventFields, EventFields, EventFields];
  await expectOneEnd([first, change, failed], { tier: 'team', subscriptions: [{ tier: 'team', status: 'past_due' }] });
});

it('SUB-05 a payment in the second of the creation ends incomplete, and one after a failure in the same second counts', async () => {
  const created = stripeEvent('customer.subscription.created', plan('pro', 'incomplete', 0));
  const failed = stripeEvent('invoice.payment_failed', { created: at(0) });
  const paid = stripeEvent('invoice.paid', { created: at(0) });
  await expectOneEnd([created, failed, paid], { tier: 'pro', subscriptions: [{ status: 'active' }] });
});

it('SUB-05 any life of a subscription ends the same in any order of its events', async () => {
  const minutes = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
  const step = fc.record({
    type: fc.constantFrom('customer.subscription.updated', 'invoice.paid', 'invoice.payment_failed'),
    tier: fc.constantFrom('pro', 'team'),
    status: fc.constantFrom('active', 'trialing', 'past_due', 'unpaid', 'incomplete', 'paused'),
  });
  const lives = fc.tuple(minutes, fc.array(step, { minLength: 5, maxLength: 5 })).map(([times, steps]) => [
    stripeEvent('customer.subscription.created', plan('pro', 'incomplete', 0)),
    ...times
      .toSorted((a, b) => a - b)
      .map((minute, i) => {
        const { type, tier, status } = steps[i] as (typeof steps)[number];
        return stripeEvent(type, type.startsWith('invoice') ? { created: at(minute) } : plan(tier, status, minute));
      }),
  ]);
  const livesAndOrders = lives.chain((life) => fc.tuple(fc.constant(life), anyOrder(life)));
  await fc.assert(
    fc.asyncProperty(livesAndOrders, async ([life, shuffled]) => {
      expect(await live(shuffled)).toEqual(await live(life));
    }),
    { numRuns: 300 },
  );
});

it('SUB-05 events in the shapes of API versions before March 2025 are understood', async () => {
  const { current_period_start, current_period_end } = PERIOD;
  const old = {
    current_period_start,
    current_period_end,
    items: { data: [{ price: { id: 'p', lookup_key: 'team' } }] },
  };
  const created = stripeEvent('customer.subscription.created', {
    created: at(0),
    object: { ...old, status: 'active' },
  });
  const failed = stripeEvent('invoice.payment_failed', {
    created: at(5),
    object: { parent: null, subscription: created.data.object.id },
  });
  const period = { current_period_end: new Date(at(43_200) * 1000).toISOString() };
  await expectOneEnd([created, failed], { tier: 'team', subscriptions: [{ status: 'past_due', ...period }] });
});

it('SUB-05 a deleted subscription stays deleted and its user free, whatever comes late', async () => {
  const sameSecond = stripeEvent('customer.subscription.updated', plan('pro', 'active', 40));
  await fc.assert(
    fc.asyncProperty(anyOrder([...LIFE, sameSecond, END]), async (events) => {
      expect(await live(events)).toMatchObject({ tier: 'free', subscriptions: [{ status: 'canceled' }] });
    }),
    { numRuns: 200 },
  );
});
