/** examples/stripe-subscriptions in virtual time: real SQLite files, real HTTP, events signed by Stripe's library. */
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { saveUser } from '../../examples/stripe-subscriptions/subscriptions.ts';
import { readReadme } from './example-process.ts';
import { openService, type ServiceRig } from './service-rig.ts';
import { stripeEvent } from './stripe-events.ts';

let rig: ServiceRig;
beforeEach(async () => {
  rig = await openService();
});
afterEach(() => rig[Symbol.asyncDispose]());

/** Trouble that passes: the table is away until it is brought back. */
const breakDatabase = () => rig.service.database.query('ALTER TABLE users RENAME TO users_away');
const mendDatabase = () => rig.service.database.query('ALTER TABLE users_away RENAME TO users');

/** As somebody looks into Posthorn's file from outside. */
function inSql(text: string): Record<string, unknown>[] {
  const database = new DatabaseSync(join(rig.folder, 'posthorn.db'), { readOnly: true });
  try {
    return database.prepare(text).all() as Record<string, unknown>[];
  } finally {
    database.close();
  }
}

describe('the subscription record', () => {
  it('SUB-05 follows a subscription from its trial over a change of plan to its end', async () => {
    const created = 1_767_225_600;
    expect(await rig.send(stripeEvent('customer.subscription.created', { created }))).toBe(200);
    await rig.attempts(1);
    expect(await rig.account()).toMatchObject({
      tier: 'pro',
      subscriptions: [
        {
          id: 'sub_1',
          status: 'trialing',
          tier: 'pro',
          trial_start: '2026-01-01T00:00:00.000Z',
          trial_end: '2026-01-15T00:00:00.000Z',
          current_period_end: '2026-01-31T00:00:00.000Z',
          canceled_at: null,
        },
      ],
    });
    const items = { data: [item('team', created + 86_400)] };
    await rig.send(stripeEvent('customer.subscription.updated', { created: created + 86_400, object: { items } }));
    await rig.attempts(2);
    expect(await rig.account()).toMatchObject({
      tier: 'team',
      subscriptions: [{ status: 'active', tier: 'team', current_period_start: '2026-01-02T00:00:00.000Z' }],
    });
    await rig.send(stripeEvent('customer.subscription.deleted', { created: created + 2 * 86_400 }));
    await rig.attempts(3);
    expect(await rig.account()).toMatchObject({
      tier: 'free',
      subscriptions: [{ status: 'canceled', canceled_at: '2026-01-03T00:00:00.000Z' }],
    });
  });

  it('SUB-05 is past_due after a failed payment, keeps its tier meanwhile, and is active once the invoice is paid', async () => {
    const at = (day: number) => ({ created: 1_767_225_600 + day * 86_400 });
    await rig.send(stripeEvent('customer.subscription.updated', at(0)));
    await rig.attempts(1);
    await rig.send(stripeEvent('invoice.payment_failed', at(1)));
    await rig.attempts(2);
    expect(await rig.account()).toMatchObject({ tier: 'pro', subscriptions: [{ status: 'past_due' }] });
    await rig.send(stripeEvent('invoice.paid', at(3)));
    await rig.attempts(3);
    expect(await rig.account()).toMatchObject({
      tier: 'pro',
      subscriptions: [{ status: 'active' }],
      payments: [
        { outcome: 'failed', amount: 2000 },
        { outcome: 'paid', amount: 2000, invoice_id: 'in_1' },
      ],
    });
    // The failure of two days ago was sent again by Stripe under another id.
    await rig.send(stripeEvent('invoice.payment_failed', at(1)));
    await rig.attempts(4);
    expect(await rig.account()).toMatchObject({ subscriptions: [{ status: 'active' }] });
  });

  it('SUB-05 gives the best tier that is paid for, whichever subscription spoke last', async () => {
    const at = (day: number) => ({ created: 1_767_225_600 + day * 86_400 });
    const team = { id: 'sub_2', items: { data: [item('team', at(1).created)] } };
    await rig.send(stripeEvent('customer.subscription.created', at(0)));
    await rig.attempts(1);
    await rig.send(stripeEvent('customer.subscription.created', { ...at(1), object: team }));
    await rig.attempts(2);
    await rig.send(stripeEvent('customer.subscription.updated', { ...at(2), object: { cancel_at_period_end: true } }));
    await rig.attempts(3);
    expect(await rig.account()).toMatchObject({ tier: 'team' });
    await rig.send(stripeEvent('customer.subscription.deleted', { ...at(3), object: team }));
    await rig.attempts(4);
    expect(await rig.account()).toMatchObject({ tier: 'pro' });
  });

  it('SUB-05 takes the best tier of the items: others are add-ons', async () => {
    const items = { data: [item('seats', 1), item('pro', 86_400), item('team', 172_800)] };
    await rig.send(stripeEvent('customer.subscription.updated', { object: { items } }));
    await rig.attempts(1);
    expect(await rig.account()).toMatchObject({
      tier: 'team',
      subscriptions: [{ tier: 'team', current_period_start: '1970-01-03T00:00:00.000Z' }],
    });
  });

  it('SUB-05 a deletion is understood as long as it names a subscription and a customer', async () => {
    await rig.send(stripeEvent('customer.subscription.updated'));
    await rig.attempts(1);
    expect(await rig.account()).toMatchObject({ tier: 'pro' });
    const { created: _, ...bare } = stripeEvent('customer.subscription.deleted');
    await rig.send({ ...bare, data: { object: { id: 'sub_1', customer: 'cus_1', trial_end: 'soon' } } });
    await rig.attempts(2);
    expect(await rig.account()).toMatchObject({
      tier: 'free',
      subscriptions: [{ status: 'canceled', canceled_at: '2026-01-01T00:00:00.000Z' }],
    });
  });

  it('an invoice of no subscription is none of its business', async () => {
    await rig.send(stripeEvent('invoice.paid', { object: { parent: null } }));
    await rig.attempts(1);
    expect(rig.log.map(({ message }) => message)).toContain('invoice of no subscription: nothing to do');
    expect(await rig.health()).toMatchObject({ pending_retries: 0, dlq_items: 0 });
    expect(await rig.account()).toMatchObject({ payments: [] });
  });

  it('an invoice that comes before its subscription waits for it', async () => {
    await rig.send(stripeEvent('invoice.paid'));
    await rig.attempts(1);
    expect(await rig.health()).toMatchObject({ pending_retries: 1, dlq_items: 0 });
    await rig.send(stripeEvent('customer.subscription.created'));
    await rig.attempts(2);
    await rig.clock.advance(30_000);
    await rig.attempts(3);
    expect(await rig.account()).toMatchObject({ payments: [{ outcome: 'paid' }] });
    expect(await rig.health()).toMatchObject({ pending_retries: 0, dlq_items: 0 });
  });
});

describe('receiving', () => {
  it('SUB-01 refuses an event that was signed with another secret, and keeps nothing of it', async () => {
    expect(await rig.send(stripeEvent('customer.subscription.created'), 'whsec_other')).toBe(401);
    expect(inSql('SELECT id FROM messages')).toEqual([]);
    expect(await rig.account()).toMatchObject({ tier: 'free', subscriptions: [] });
  });

  it('SUB-02 an event that comes twice is handled once', async () => {
    await rig.send(stripeEvent('customer.subscription.created'));
    await rig.attempts(1);
    const paid = stripeEvent('invoice.paid');
    expect(await rig.send(paid)).toBe(200);
    await rig.attempts(2);
    expect(await rig.send(paid)).toBe(200);
    expect(rig.log.filter(({ message }) => message === 'invoice paid')).toHaveLength(1);
    expect((await rig.account())?.payments).toHaveLength(1);
  });
});

describe('when something fails', () => {
  it('SUB-03 SUB-04 SUB-12 database trouble is retried after 30 s, 1 min and 2 min; success removes it from the queue', async () => {
    await breakDatabase();
    const event = stripeEvent('customer.subscription.created');
    await rig.send(event);
    await rig.attempts(1);
    const queue = 'SELECT stripe_event_id, retry_count, max_retries, next_retry_at FROM webhook_retry_queue';
    const due = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
    const row = { stripe_event_id: event.id, max_retries: 3 };
    expect(inSql(queue)).toEqual([{ ...row, retry_count: 0, next_retry_at: due(30) }]);
    await rig.clock.advance(30_000);
    await rig.attempts(2);
    expect(inSql(queue)).toEqual([{ ...row, retry_count: 1, next_retry_at: due(90) }]);
    await rig.clock.advance(60_000);
    await rig.attempts(3);
    expect(inSql(queue)).toEqual([{ ...row, retry_count: 2, next_retry_at: due(210) }]);
    await mendDatabase();
    await rig.clock.advance(120_000);
    await rig.attempts(4);
    expect(inSql(queue)).toEqual([]);
    expect(await rig.account()).toMatchObject({ tier: 'pro' });
    expect(await rig.health()).toMatchObject({ pending_retries: 0, dlq_items: 0 });
  });

  it('SUB-04 SUB-06 SUB-07 after the last retry it is a dead letter; log and health say so', async () => {
    await breakDatabase();
    const { id } = stripeEvent('customer.subscription.created');
    await rig.send({ ...stripeEvent('customer.subscription.created'), id });
    for (const [n, waitMs] of [30_000, 60_000, 120_000, 0].entries()) {
      await rig.attempts(n + 1);
      await rig.clock.advance(waitMs);
    }
    const answer = await fetch(`${rig.url}/health/webhooks`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      status: 'healthy',
      webhooks: {
        pending_retries: 0,
        dlq_items: 1,
        without_handler: 0,
        overdue: 0,
        timestamp: '2026-01-01T00:03:30.000Z',
      },
    });
    const lines = rig.log.filter(({ fields, level }) => fields.eventId === id && level !== 'debug');
    expect(lines.map(({ message }) => message)).toEqual([
      'webhook received',
      'processing webhook event',
      'processing customer.subscription.created',
      'webhook delivery failed',
      ...['processing retry', 'processing customer.subscription.created', 'webhook delivery failed'],
      ...['processing retry', 'processing customer.subscription.created', 'webhook delivery failed'],
      ...['processing retry', 'processing customer.subscription.created', 'webhook delivery failed'],
    ]);
    expect(lines.filter(({ message }) => message === 'processing retry').map(({ fields }) => fields)).toMatchObject([
      { retry: 1, maxRetries: 3 },
      { retry: 2, maxRetries: 3 },
      { retry: 3, maxRetries: 3 },
    ]);
    expect(lines.at(-1)?.fields).toMatchObject({ willRetry: false, attempt: 4 });
  });

  it('SUB-03 the number of retries is configurable', async () => {
    await using impatient = await openService({ maxRetries: 0 });
    await impatient.service.database.query('ALTER TABLE users RENAME TO users_away');
    await impatient.send(stripeEvent('customer.subscription.created'));
    await impatient.attempts(1);
    expect(await impatient.health()).toMatchObject({ pending_retries: 0, dlq_items: 1 });
  });

  const [created, updated] = ['customer.subscription.created', 'customer.subscription.updated'];
  it.each([
    ['a customer that nobody is', created, { customer: 'cus_nobody' }, 'no user has'],
    ['no customer', created, { customer: null }, 'customer is missing'],
    ['no id', created, { id: undefined }, 'subscription is missing'],
    ['no status', created, { status: undefined }, 'status is missing'],
    ['no trial', created, { trial_start: undefined }, 'trial_start is missing'],
    ['the end of its trial in words', created, { trial_end: 'soon' }, 'trial_end is missing or cannot be read'],
    ['a trial until no time there is', created, { trial_end: 1e18 }, 'trial_end is missing or cannot be read'],
    ['no items', updated, { items: { data: [] } }, 'is of a tier: it has none'],
    ['items that are no list', updated, { items: { data: {} } }, 'is of a tier: it has none'],
    ['a price of no tier', updated, { items: { data: [item('gold', 1)] } }, 'is of a tier: price_gold (gold)'],
    [
      'a price that is called like what all objects have',
      updated,
      { items: { data: [item('constructor', 1)] } },
      'is of a tier',
    ],
    ['an invoice without an amount', 'invoice.paid', { amount_paid: undefined }, 'amount is missing'],
    ['an invoice without a currency', 'invoice.paid', { currency: null }, 'currency is missing'],
  ])('SUB-12 %s is a dead letter at once', async (_, type, object, error) => {
    await rig.send(stripeEvent(type, { object }));
    await rig.attempts(1);
    expect(inSql('SELECT event_type, error, retry_count FROM webhook_dead_letter_queue')).toEqual([
      { event_type: type, error: expect.stringContaining(error), retry_count: 0 },
    ]);
    expect(await rig.account()).toMatchObject({ tier: 'free', subscriptions: [], payments: [] });
  });

  it.each([
    ['an object', { data: {} }, 'data.object is missing'],
    ['data', { data: undefined }, 'data.object is missing'],
    ['a time', { created: undefined }, 'created is missing'],
  ])('SUB-12 an event without %s is a dead letter at once', async (_, fields, error) => {
    await rig.send({ ...stripeEvent('customer.subscription.updated'), ...fields });
    await rig.attempts(1);
    expect(inSql('SELECT error, retry_count FROM webhook_dead_letter_queue')).toEqual([
      { error: expect.stringContaining(error), retry_count: 0 },
    ]);
  });

  it('SUB-09 SUB-11 a dead letter is found with the documented SQL, and retried by hand with a full new schedule', async () => {
    const event = stripeEvent('customer.subscription.created', { token: '2' });
    await rig.send(event);
    await rig.attempts(1);
    const [sql = ''] = readReadme('stripe-subscriptions').blocks('sql');
    expect(inSql(sql)).toEqual([
      {
        stripe_event_id: event.id,
        event_type: 'customer.subscription.created',
        error: expect.stringContaining('no user has the Stripe customer cus_2'),
        retry_count: 0,
        original_timestamp: '2026-01-01T00:00:00.000Z',
        created_at: '2026-01-01T00:00:00.000Z',
      },
    ]);
    const as = { headers: { authorization: 'Bearer secret' } };
    expect(await (await fetch(`${rig.url}/dead-letters`, as)).json()).toMatchObject({
      data: [{ eventId: event.id, delivery: { state: 'dead' }, lastAttempt: {} }],
      done: true,
    });
    const retry = (init: object) => fetch(`${rig.url}/dead-letters/${event.id}/retry`, { method: 'POST', ...init });
    expect((await retry({})).status).toBe(401);
    // The schedule begins anew: trouble now is retried, not the end.
    await breakDatabase();
    expect(await (await retry(as)).json()).toEqual({ retried: 1 });
    await rig.attempts(2);
    expect(inSql('SELECT retry_count FROM webhook_retry_queue')).toEqual([{ retry_count: 0 }]);
    expect(inSql(sql)).toEqual([]);
    await mendDatabase();
    await saveUser(rig.service.database, { id: 'u2', email: 'b@example.com', stripe_customer_id: 'cus_2' });
    await rig.clock.advance(30_000);
    await rig.attempts(3);
    expect(inSql('SELECT * FROM webhook_retry_queue')).toEqual([]);
    const again = await retry(as);
    expect(again.status).toBe(404);
    expect(await again.json()).toEqual({ error: `There is no dead letter of the event ${event.id}` });
  });
});

describe("the operator's paths", () => {
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(rig.url + path, { ...init, headers: { authorization: 'Bearer secret' } });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const post = (body: object | string) =>
    ask('/users', { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });
  const user = { id: 'u2', email: 'b@example.com', stripe_customer_id: 'cus_2' };

  it('a user who comes back as another customer of Stripe is linked to it, and keeps what the former one bought', async () => {
    await rig.send(stripeEvent('customer.subscription.updated'));
    await rig.attempts(1);
    expect(await post({ ...user, id: 'u1', stripe_customer_id: 'cus_new' })).toMatchObject({ status: 201 });
    expect(await rig.account()).toMatchObject({ stripe_customer_id: 'cus_new', tier: 'pro' });
    await rig.send(stripeEvent('customer.subscription.deleted'));
    await rig.attempts(2);
    expect(await rig.account()).toMatchObject({ tier: 'free' });
    const object = { id: 'sub_2', customer: 'cus_new' };
    await rig.send(stripeEvent('customer.subscription.created', { object }));
    await rig.attempts(3);
    expect(await rig.account()).toMatchObject({ tier: 'pro', subscriptions: [{}, { id: 'sub_2' }] });
  });

  it('ALL-06 a user that cannot be is refused with a sentence', async () => {
    expect(await post({ ...user, stripe_customer_id: 'cus_1' })).toMatchObject({
      status: 409,
      body: { error: 'Another user has the Stripe customer cus_1' },
    });
    for (const body of [
      '',
      '{',
      'null',
      '[]',
      { ...user, email: undefined },
      { ...user, id: 5 },
      { ...user, id: '' },
    ]) {
      const { status, body: said } = await post(body);
      expect({ body, status, said }).toMatchObject({
        status: 400,
        said: { error: expect.stringContaining('three texts') },
      });
    }
    expect(await ask('/users/u2')).toMatchObject({ status: 404, body: { error: 'There is no user u2' } });
    expect(rig.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('ALL-06 trouble of ours is a 500 and a log line', async () => {
    await breakDatabase();
    expect(await post(user)).toMatchObject({ status: 500, body: { error: expect.stringContaining('the log') } });
    expect(rig.log.at(-1)).toMatchObject({
      level: 'error',
      message: 'a request failed',
      fields: { error: expect.stringContaining('no such table: users') },
    });
  });

  it('SUB-11 ALL-06 dead letters come by the page, and what cannot be one is refused with a sentence', async () => {
    for (let n = 0; n < 51; n++) await rig.send(stripeEvent('customer.subscription.created', { token: 'nobody' }));
    await rig.attempts(51);
    const first = await ask('/dead-letters');
    expect(first.body).toMatchObject({ data: { length: 50 }, done: false });
    const second = await ask(`/dead-letters?iterator=${first.body.iterator}`);
    expect(second.body).toMatchObject({ data: { length: 1 }, done: true });
    expect(await ask('/dead-letters?iterator=x')).toMatchObject({ status: 400 });
    expect(await ask('/dead-letters//retry', { method: 'POST' })).toMatchObject({ status: 400 });
  });
});

function item(tier: string, from: number) {
  const price = { id: `price_${tier}`, lookup_key: tier };
  return { current_period_start: from, current_period_end: from + 30 * 86_400, price };
}
