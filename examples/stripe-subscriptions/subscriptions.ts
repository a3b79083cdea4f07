/**
 * Subscription records. Every statement can be run twice, and none lets an older event overwrite a newer one: Stripe
 * promises neither that events come once nor that they come in order.
 */
import type { Sql } from './database.ts';

/** The best first. Add yours here. */
export const PAID_TIERS = ['team', 'pro'] as const;
export type Tier = 'free' | (typeof PAID_TIERS)[number];

const RANK = `CASE tier ${PAID_TIERS.map((tier, rank) => `WHEN '${tier}' THEN ${rank}`).join(' ')} END`;

export interface User {
  readonly id: string;
  readonly email: string;
  readonly stripe_customer_id: string;
  readonly tier: Tier;
}

export interface Subscription {
  readonly id: string;
  readonly user_id: string;
  readonly tier: Tier;
  readonly status: string;
  readonly trial_start: string | null;
  readonly trial_end: string | null;
  readonly current_period_start: string;
  readonly current_period_end: string;
  readonly canceled_at: string | null;
}

export interface Payment {
  readonly event_id: string;
  readonly subscription_id: string;
  readonly invoice_id: string;
  readonly outcome: 'paid' | 'failed';
  readonly amount: number;
  readonly currency: string;
  readonly created_at: string;
}

const COLUMNS = `id, user_id, tier, status, trial_start, trial_end, current_period_start, current_period_end, canceled_at`;

/**
 * Deleted is deleted: Stripe never revives a subscription. `created` yields to anything from the same second, for an update is
 * what follows it.
 */
const SAVE = (beats: '<' | '<=') => `
  INSERT INTO subscriptions (${COLUMNS}, said, as_of)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $4, $10)
  ON CONFLICT (id) DO UPDATE SET
    user_id = excluded.user_id,
    tier = excluded.tier,
    said = excluded.said,
    trial_start = excluded.trial_start,
    trial_end = excluded.trial_end,
    current_period_start = excluded.current_period_start,
    current_period_end = excluded.current_period_end,
    canceled_at = excluded.canceled_at,
    as_of = excluded.as_of
  WHERE subscriptions.as_of ${beats} excluded.as_of AND subscriptions.said <> 'canceled'
  RETURNING id`;

/** Whether it was newer than what is there. */
export async function saveSubscription(
  sql: Sql,
  subscription: Subscription,
  { asOf, isFirst }: { asOf: string; isFirst: boolean },
): Promise<boolean> {
  const { id, user_id, tier, status, trial_start, trial_end } = subscription;
  const { current_period_start, current_period_end, canceled_at } = subscription;
  const plan = [id, user_id, tier, status, trial_start, trial_end];
  const { rows } = await sql.query(SAVE(isFirst ? '<' : '<='), [
    ...plan,
    current_period_start,
    current_period_end,
    canceled_at,
    asOf,
  ]);
  return rows.length > 0;
}

/** The last word on a subscription, whatever came before it and whatever is still to come. */
export async function cancelSubscription(sql: Sql, subscription: Subscription, asOf: string): Promise<void> {
  await saveSubscription(sql, subscription, { asOf, isFirst: true });
  const { id, canceled_at } = subscription;
  await sql.query(`UPDATE subscriptions SET said = 'canceled', canceled_at = $2 WHERE id = $1`, [id, canceled_at]);
}

export async function savePayment(sql: Sql, payment: Payment): Promise<void> {
  const { event_id, subscription_id, invoice_id, outcome, amount, currency, created_at } = payment;
  await sql.query(
    `INSERT INTO payments (event_id, subscription_id, invoice_id, outcome, amount, currency, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (event_id) DO NOTHING`,
    [event_id, subscription_id, invoice_id, outcome, amount, currency, created_at],
  );
}

/**
 * What became of the newest invoice that is no older than the subscription's own word. Of one second, the invoice follows the
 * subscription, as a first payment follows its creation, and what was paid follows what failed.
 */
const LAST_OUTCOME = `(
  SELECT outcome FROM payments
  WHERE subscription_id = subscriptions.id AND created_at >= subscriptions.as_of
  ORDER BY created_at DESC, outcome DESC LIMIT 1)`;

/**
 * All that follows from what was written, worked out anew from the records, so that it does not matter in which order they came:
 * each subscription's status, and what the user may use: the best tier of the subscriptions that run, else free. Answers the tier.
 */
export async function settle(sql: Sql, userId: string): Promise<Tier> {
  // A first payment also ends `incomplete`. What is unpaid, paused or at its end is so until Stripe says otherwise.
  await sql.query(
    `UPDATE subscriptions SET status = CASE
       WHEN said IN ('active', 'trialing') AND ${LAST_OUTCOME} = 'failed' THEN 'past_due'
       WHEN said IN ('past_due', 'incomplete') AND ${LAST_OUTCOME} = 'paid' THEN 'active'
       ELSE said END
     WHERE user_id = $1`,
    [userId],
  );
  const { rows } = await sql.query(
    `UPDATE users SET tier = coalesce(
       (SELECT tier FROM subscriptions
        WHERE user_id = $1 AND status IN ('active', 'trialing', 'past_due') ORDER BY ${RANK} LIMIT 1), 'free')
     WHERE id = $1 RETURNING tier`,
    [userId],
  );
  return (rows[0] as { tier: Tier } | undefined)?.tier ?? 'free';
}

/** Also for one who comes back as another customer of Stripe's. False: that customer is another user. */
export async function saveUser(sql: Sql, { id, email, stripe_customer_id }: Omit<User, 'tier'>): Promise<boolean> {
  const { rows } = await sql.query(
    `INSERT INTO users (id, email, stripe_customer_id)
     SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT 1 FROM users WHERE stripe_customer_id = $3 AND id <> $1)
     ON CONFLICT (id) DO UPDATE SET email = excluded.email, stripe_customer_id = excluded.stripe_customer_id
     RETURNING id`,
    [id, email, stripe_customer_id],
  );
  return rows.length > 0;
}

/**
 * The user, whose row is locked by this until the transaction ends. Two events of one user are handled one after the other so:
 * each of them settles the tier by what both have written, and not by what was there when they began.
 */
export async function lockUser(sql: Sql, by: 'id' | 'stripe_customer_id', value: string): Promise<User | undefined> {
  const { rows } = await sql.query(`UPDATE users SET tier = tier WHERE ${by} = $1 RETURNING *`, [value]);
  return rows[0] as User | undefined;
}

export async function userIdOf(sql: Sql, subscriptionId: string): Promise<string | undefined> {
  const { rows } = await sql.query('SELECT user_id FROM subscriptions WHERE id = $1', [subscriptionId]);
  return (rows[0] as { user_id: string } | undefined)?.user_id;
}

export interface Account extends User {
  readonly subscriptions: readonly Subscription[];
  readonly payments: readonly Payment[];
}

export async function accountOf(sql: Sql, userId: string): Promise<Account | undefined> {
  const user = (await sql.query('SELECT * FROM users WHERE id = $1', [userId])).rows[0] as User | undefined;
  if (user === undefined) return undefined;
  const subscriptions = await sql.query(`SELECT ${COLUMNS} FROM subscriptions WHERE user_id = $1 ORDER BY id`, [
    userId,
  ]);
  const payments = await sql.query(
    `SELECT p.* FROM payments p JOIN subscriptions s ON s.id = p.subscription_id
     WHERE s.user_id = $1 ORDER BY p.created_at, p.event_id`,
    [userId],
  );
  return { ...user, subscriptions: subscriptions.rows as Subscription[], payments: payments.rows as Payment[] };
}
