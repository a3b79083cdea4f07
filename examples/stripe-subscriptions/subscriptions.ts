/**
 * Subscription records. Every statement can be run twice, and none lets an older event overwrite a newer one: Stripe
 * promises neither that events come once nor that they come in order.
 */
import type { Sql } from './database.ts';

export type Tier = 'free' | 'pro' | 'team';

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
 * The plan and the status have times of their own: an invoice changes the status alone, and must not keep a change of
 * plan out that was made before it and comes after it. Deleted is deleted: Stripe never revives a subscription.
 * `created` yields to anything from the same second, for an update is what follows it.
 */
const SAVE = (beats: '<' | '<=') => `
  INSERT INTO subscriptions (${COLUMNS}, as_of, status_as_of)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)
  ON CONFLICT (id) DO UPDATE SET
    user_id = excluded.user_id,
    tier = excluded.tier,
    trial_start = excluded.trial_start,
    trial_end = excluded.trial_end,
    current_period_start = excluded.current_period_start,
    current_period_end = excluded.current_period_end,
    canceled_at = excluded.canceled_at,
    as_of = excluded.as_of,
    status = CASE WHEN subscriptions.status_as_of <= excluded.as_of THEN excluded.status ELSE subscriptions.status END,
    status_as_of =
      CASE WHEN subscriptions.status_as_of <= excluded.as_of THEN excluded.as_of ELSE subscriptions.status_as_of END
  WHERE subscriptions.as_of ${beats} excluded.as_of AND subscriptions.status <> 'canceled'
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
  await sql.query(
    `UPDATE subscriptions SET status = 'canceled', canceled_at = coalesce($2, $3), status_as_of = $3 WHERE id = $1`,
    [subscription.id, subscription.canceled_at, asOf],
  );
}

/** An invoice's word on the status, where it has one: from those states to that. Whether there is such a subscription. */
export async function setStatus(
  sql: Sql,
  id: string,
  { from, to, asOf }: { from: readonly [string, string]; to: string; asOf: string },
): Promise<boolean> {
  const { rows } = await sql.query('SELECT id FROM subscriptions WHERE id = $1', [id]);
  await sql.query(
    `UPDATE subscriptions SET status = CASE WHEN status IN ($4, $5) THEN $2 ELSE status END, status_as_of = $3
     WHERE id = $1 AND status <> 'canceled' AND status_as_of <= $3`,
    [id, to, asOf, ...from],
  );
  return rows.length > 0;
}

export async function savePayment(sql: Sql, payment: Payment): Promise<void> {
  const { event_id, subscription_id, invoice_id, outcome, amount, currency, created_at } = payment;
  await sql.query(
    `INSERT INTO payments (event_id, subscription_id, invoice_id, outcome, amount, currency, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (event_id) DO NOTHING`,
    [event_id, subscription_id, invoice_id, outcome, amount, currency, created_at],
  );
}

/** What a user may use follows from the subscriptions that run: free without one. Answers the tier. */
export async function settleTier(sql: Sql, userId: string): Promise<Tier> {
  const { rows } = await sql.query(
    `UPDATE users SET tier = coalesce(
       (SELECT tier FROM subscriptions
        WHERE user_id = $1 AND status IN ('active', 'trialing', 'past_due') ORDER BY as_of DESC, id LIMIT 1), 'free')
     WHERE id = $1 RETURNING tier`,
    [userId],
  );
  return (rows[0] as { tier: Tier } | undefined)?.tier ?? 'free';
}

export async function addUser(sql: Sql, user: Omit<User, 'tier'>): Promise<void> {
  await sql.query('INSERT INTO users (id, email, stripe_customer_id) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING', [
    user.id,
    user.email,
    user.stripe_customer_id,
  ]);
}

export async function userOfCustomer(sql: Sql, customerId: string): Promise<User | undefined> {
  const { rows } = await sql.query('SELECT * FROM users WHERE stripe_customer_id = $1', [customerId]);
  return rows[0] as User | undefined;
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
