/** examples/stripe-subscriptions on a real PostgreSQL, where effects and "processed" are one commit. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSubscription } from '../../examples/stripe-subscriptions/read-event.ts';
import {
  lockUser,
  saveSubscription,
  saveUser,
  settle,
  type Tier,
} from '../../examples/stripe-subscriptions/subscriptions.ts';
import type { ManualClock } from '../../src/testing/manual-clock.ts';
import { ExampleProcess, readReadme, runCommand } from './example-process.ts';
import { createOwnDatabase, type OwnDatabase } from './own-database.ts';
import { openService } from './service-rig.ts';
import { signedRequest, stripeEvent } from './stripe-events.ts';

let own: OwnDatabase;
beforeEach(async () => {
  own = await createOwnDatabase();
});
afterEach(() => own[Symbol.asyncDispose]());

/** With the clock moving on: what the server refuses for a moment is tried again after a pause by that clock. */
async function moving<T>(clock: ManualClock, work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  const working = work();
  working.then(over, over);
  while (!isOver) {
    await clock.advance(10);
    await sleep(10);
  }
  return working;
}

describe('on PostgreSQL', { timeout: 40_000 }, () => {
  it('SUB-05 SUB-10 SUB-12 a handler that fails half-way leaves nothing behind; a cron tries it again, and it has written once', async () => {
    await using rig = await openService({ database: own.url, role: 'api' });
    const { hooks, database } = rig.service;
    await rig.send(stripeEvent('customer.subscription.updated'));
    expect((await rig.account())?.subscriptions).toEqual([]);
    expect(await moving(rig.clock, () => hooks.processPendingRetries(10))).toMatchObject({ claimed: 1, delivered: 1 });
    expect(await rig.account()).toMatchObject({ tier: 'pro' });

    // What the handler does last fails, after it has written the payment.
    await database.query('ALTER TABLE subscriptions RENAME COLUMN status TO away');
    await rig.send(stripeEvent('invoice.payment_failed', { created: 1_767_225_700 }));
    expect(await moving(rig.clock, () => hooks.processPendingRetries())).toMatchObject({ claimed: 1, retried: 1 });
    await database.query('ALTER TABLE subscriptions RENAME COLUMN away TO status');
    expect(await rig.account()).toMatchObject({ subscriptions: [{ status: 'active' }], payments: [] });

    expect(await moving(rig.clock, () => hooks.processPendingRetries())).toMatchObject({ claimed: 0 });
    await rig.clock.advance(30_000);
    expect(await moving(rig.clock, () => hooks.processPendingRetries())).toMatchObject({ claimed: 1, delivered: 1 });
    expect(await rig.account()).toMatchObject({ subscriptions: [{ status: 'past_due' }], payments: [{}] });
  });

  it('SUB-05 two events of one user at once: the tier follows from both', async () => {
    await using rig = await openService({ database: own.url, role: 'api' });
    const { database } = rig.service;
    const begin = async () => {
      const client = new pg.Client(own.url);
      await client.connect();
      await client.query('BEGIN');
      return client;
    };
    const handle = async (client: pg.Client, tier: Tier, asOf: string) => {
      const { object } = stripeEvent('customer.subscription.created', { token: tier }).data;
      const subscription = readSubscription(object as unknown as Stripe.Subscription, 'u1');
      await lockUser(client, 'id', 'u1');
      await saveSubscription(client, { ...subscription, tier }, { asOf, isFirst: true });
      return settle(client, 'u1');
    };
    const [best, other] = [await begin(), await begin()];
    expect(await handle(best, 'team', '2026-01-01T00:00:00.000Z')).toBe('team');
    const settled = handle(other, 'pro', '2026-01-02T00:00:00.000Z');
    const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    while ((await database.query(waiting)).rows.length === 0) await sleep(5);
    await best.query('COMMIT');
    expect(await settled).toBe('team');
    await other.query('COMMIT');
    expect((await rig.account())?.tier).toBe('team');
    for (const client of [best, other]) await client.end();
  });

  it("SUB-05 the accounts are there at the second start, where Posthorn's schema is called like the role", async () => {
    const url = new URL(own.url);
    url.searchParams.set('schema', url.username);
    const database = url.href;
    {
      await using first = await openService({ database, role: 'api' });
      await first.send(stripeEvent('customer.subscription.updated'));
      expect(await moving(first.clock, () => first.service.hooks.processPendingRetries())).toMatchObject({
        delivered: 1,
      });
    }
    await using second = await openService({ database, role: 'api' });
    const user = { id: 'u2', email: 'b@example.com', stripe_customer_id: 'cus_1' };
    expect(await saveUser(second.service.database, user)).toBe(false);
    expect(await saveUser(second.service.database, { ...user, stripe_customer_id: 'cus_2' })).toBe(true);
    expect(await second.account()).toMatchObject({ tier: 'pro', subscriptions: [{ status: 'active' }] });
    await second.send(stripeEvent('customer.subscription.deleted', { created: 1_767_225_700 }));
    expect(await moving(second.clock, () => second.service.hooks.processPendingRetries())).toMatchObject({
      delivered: 1,
    });
    expect(await second.account()).toMatchObject({ tier: 'free', subscriptions: [{ status: 'canceled' }] });
  });

  it('SUB-09 SUB-10 runs as two programs: one that answers, and a cron job that works', async () => {
    const readme = readReadme('stripe-subscriptions');
    const [, command = ''] = readme.commands;
    const env = { DATABASE_URL: `${own.url}?schema=second`, ROLE: 'api' };
    await using service = new ExampleProcess(command, env);
    const url = await service.url();
    for (const [token, expected] of [
      ['u3', 200],
      ['nobody', 200],
    ] as const) {
      const event = stripeEvent('customer.subscription.created', { token });
      expect((await fetch(`${url}/webhooks/stripe`, signedRequest(event))).status).toBe(expected);
    }
    await service.curl(readme.curls[0]?.replaceAll('u1', 'u3').replaceAll('cus_1', 'cus_u3') ?? '');
    const cron = command.replace('main.ts', 'process-retries.ts');
    const printed = await runCommand(cron, env);
    expect(printed).toContain('{"claimed":2,"delivered":1,"retried":0,"failed":1}');
    expect(JSON.parse(await service.curl(readme.curls[1]?.replace('u1', 'u3') ?? ''))).toMatchObject({ tier: 'pro' });
    expect(JSON.parse(await service.curl(readme.curls[3] ?? ''))).toMatchObject({
      data: [{ eventId: expect.stringMatching(/^evt_/), delivery: { state: 'dead' } }],
    });
    expect(await service.stop()).toBe(0);
  });
});
