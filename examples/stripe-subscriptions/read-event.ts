/**
 * What the handlers need of Stripe's events. A reader (`idOf`, `timeOf`, …) answers undefined where it does not understand, and
 * `need` makes a PermanentError of that: what is missing will be missing next time too.
 */
import { PermanentError } from 'posthorn';
import type Stripe from 'stripe';
import { PAID_TIERS, type Subscription, type Tier } from './subscriptions.ts';

type Item = Stripe.SubscriptionItem;

export function need<T>(value: T | null | undefined, name: string): T {
  if (value == null) throw new PermanentError(`the event's ${name} is missing or cannot be read`);
  return value;
}

export function objectOf<T>(event: { readonly data: { readonly object: T } }): T {
  return need(event.data?.object, 'data.object');
}

export function readSubscription(subscription: Stripe.Subscription, userId: string): Subscription {
  const { tier, item } = planOf(subscription) ?? refusePlan(subscription);
  const { from, to } = need(periodOf(subscription, item), 'billing period');
  return {
    id: need(idOf(subscription), 'subscription'),
    user_id: userId,
    tier,
    status: need(textOf(subscription.status), 'status'),
    trial_start: needTimeOrNull(subscription.trial_start, 'trial_start'),
    trial_end: needTimeOrNull(subscription.trial_end, 'trial_end'),
    current_period_start: from,
    current_period_end: to,
    canceled_at: needTimeOrNull(subscription.canceled_at, 'canceled_at'),
  };
}

/** Whatever else it lacks: an end that is not understood would leave its user on a tier that nobody pays for. */
export function readEnded(subscription: Stripe.Subscription, userId: string, at: string): Subscription {
  const plan = planOf(subscription);
  const life = { from: timeOf(subscription.start_date) ?? at, to: timeOf(subscription.ended_at) ?? at };
  const { from, to } = periodOf(subscription, plan?.item) ?? life;
  return {
    id: need(idOf(subscription), 'subscription'),
    user_id: userId,
    tier: plan?.tier ?? 'free',
    status: 'canceled',
    trial_start: timeOf(subscription.trial_start) ?? null,
    trial_end: timeOf(subscription.trial_end) ?? null,
    current_period_start: from,
    current_period_end: to,
    canceled_at: timeOf(subscription.canceled_at) ?? at,
  };
}

/**
 * Its best tier and the item that is of it; the other items are add-ons. The lookup key of a price is the name of its tier: it
 * survives when the amount changes.
 */
function planOf(subscription: Stripe.Subscription): { readonly tier: Tier; readonly item: Item } | undefined {
  for (const tier of PAID_TIERS) {
    const item = itemsOf(subscription).find((each) => each?.price?.lookup_key === tier);
    if (item !== undefined) return { tier, item };
  }
  return undefined;
}

function refusePlan(subscription: Stripe.Subscription): never {
  const prices = itemsOf(subscription).map((item) => `${item?.price?.id} (${item?.price?.lookup_key})`);
  throw new PermanentError(`no price of ${subscription.id} is of a tier: ${prices.join(', ') || 'it has none'}`);
}

function itemsOf(subscription: Stripe.Subscription): readonly Item[] {
  const items: unknown = subscription.items?.data;
  return Array.isArray(items) ? items : [];
}

/** Of the item; of the subscription in Stripe's API before March 2025, which events are of where nobody changed it. */
function periodOf(subscription: Stripe.Subscription, item: Item | undefined) {
  for (const place of [item, subscription] as readonly (Partial<Record<string, unknown>> | undefined)[]) {
    const [from, to] = [timeOf(place?.current_period_start), timeOf(place?.current_period_end)];
    if (from !== undefined && to !== undefined) return { from, to };
  }
  return undefined;
}

/** Undefined for an invoice of something else. */
export function subscriptionOf(invoice: Stripe.Invoice): string | undefined {
  // The second is where Stripe's API before March 2025 has it.
  const { subscription: before } = invoice as { readonly subscription?: string | null };
  const subscription = invoice.parent?.subscription_details?.subscription ?? before;
  return subscription == null ? undefined : need(idOf(subscription), 'subscription');
}

/** Stripe sends ids, or whole objects where they were asked for. */
export function idOf(reference: unknown): string | undefined {
  return textOf(typeof reference === 'object' ? (reference as { id?: unknown } | null)?.id : reference);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function amountOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? Number(value) : undefined;
}

const LAST_SECOND = Date.UTC(9999, 11, 31) / 1000;

/** Stripe counts seconds. */
export function timeOf(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= LAST_SECOND)) return undefined;
  return new Date(seconds * 1000).toISOString();
}

function needTimeOrNull(seconds: unknown, name: string): string | null {
  return seconds === null ? null : need(timeOf(seconds), name);
}
