/** What the handlers need of Stripe's objects. What is missing will be missing next time too: a PermanentError. */
import { PermanentError } from 'posthorn';
import type Stripe from 'stripe';
import type { Subscription, Tier } from './subscriptions.ts';

/** By the lookup key of the price, which survives when the amount changes. */
const TIERS: Readonly<Record<string, Tier>> = { pro: 'pro', team: 'team' };

export function readSubscription(subscription: Stripe.Subscription, userId: string): Subscription {
  const price = subscription.items?.data?.[0]?.price;
  if (price == null) throw new PermanentError(`the subscription ${subscription.id} has no item with a price`);
  const tier = TIERS[price.lookup_key ?? ''];
  if (tier === undefined) {
    throw new PermanentError(`the price ${price.id} (${price.lookup_key ?? 'no lookup key'}) is of no tier`);
  }
  const period = periodOf(subscription);
  if (period === undefined) throw new PermanentError(`the subscription ${subscription.id} has no billing period`);
  return read(subscription, userId, tier, period);
}

/** Whatever its price was: an end that is not understood would leave its user on a tier that nobody pays for. */
export function readEnded(subscription: Stripe.Subscription, userId: string): Subscription {
  const tier = TIERS[subscription.items?.data?.[0]?.price?.lookup_key ?? ''] ?? 'free';
  const { start_date: from, ended_at: to } = subscription;
  return read(subscription, userId, tier, periodOf(subscription) ?? { from, to: to ?? from });
}

interface Period {
  readonly from: number;
  readonly to: number;
}

/** Of its first item; of the subscription itself in Stripe's API before March 2025, which events are of where nobody changed it. */
function periodOf(subscription: Stripe.Subscription): Period | undefined {
  const places = [subscription.items?.data?.[0], subscription] as readonly (
    | Partial<Record<string, unknown>>
    | undefined
  )[];
  for (const place of places) {
    const { current_period_start: from, current_period_end: to } = place ?? {};
    if (typeof from === 'number' && typeof to === 'number') return { from, to };
  }
  return undefined;
}

function read(subscription: Stripe.Subscription, userId: string, tier: Tier, period: Period): Subscription {
  return {
    id: subscription.id,
    user_id: userId,
    tier,
    status: subscription.status,
    trial_start: timeOrNull(subscription.trial_start),
    trial_end: timeOrNull(subscription.trial_end),
    current_period_start: time(period.from),
    current_period_end: time(period.to),
    canceled_at: timeOrNull(subscription.canceled_at),
  };
}

export function subscriptionOf(invoice: Stripe.Invoice): string {
  // The second is where Stripe's API before March 2025 has it.
  const { subscription: before } = invoice as { readonly subscription?: string | null };
  const subscription = invoice.parent?.subscription_details?.subscription ?? before;
  if (subscription == null) throw new PermanentError(`the invoice ${invoice.id} is for no subscription`);
  return idOf(subscription);
}

/** Stripe sends ids, or whole objects where they were asked for. */
export function idOf(reference: string | { readonly id: string }): string {
  return typeof reference === 'string' ? reference : reference.id;
}

/** Stripe counts seconds. */
export function time(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

function timeOrNull(seconds: number | null): string | null {
  return seconds === null ? null : time(seconds);
}
