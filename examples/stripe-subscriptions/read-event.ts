/** What the handlers need of Stripe's objects. What is missing will be missing next time too: a PermanentError. */
import { PermanentError } from 'posthorn';
import type Stripe from 'stripe';
import type { Subscription, Tier } from './subscriptions.ts';

/** By the lookup key of the price, which survives when the amount changes. */
const TIERS: Readonly<Record<string, Tier>> = { pro: 'pro', team: 'team' };

export function readSubscription(subscription: Stripe.Subscription, userId: string): Subscription {
  const item = subscription.items?.data[0];
  if (item === undefined) throw new PermanentError(`the subscription ${subscription.id} has no items`);
  const tier = TIERS[item.price.lookup_key ?? ''];
  if (tier === undefined) {
    throw new PermanentError(`the price ${item.price.id} (${item.price.lookup_key ?? 'no lookup key'}) is of no tier`);
  }
  return read(subscription, userId, tier);
}

/** Whatever its price was: an end that is not understood would leave its user on a tier that nobody pays for. */
export function readEnded(subscription: Stripe.Subscription, userId: string): Subscription {
  const tier = TIERS[subscription.items?.data[0]?.price.lookup_key ?? ''] ?? 'free';
  return read(subscription, userId, tier);
}

function read(subscription: Stripe.Subscription, userId: string, tier: Tier): Subscription {
  const period = subscription.items?.data[0];
  return {
    id: subscription.id,
    user_id: userId,
    tier,
    status: subscription.status,
    trial_start: timeOrNull(subscription.trial_start),
    trial_end: timeOrNull(subscription.trial_end),
    current_period_start: time(period?.current_period_start ?? subscription.start_date),
    current_period_end: time(period?.current_period_end ?? subscription.ended_at ?? subscription.start_date),
    canceled_at: timeOrNull(subscription.canceled_at),
  };
}

export function subscriptionOf(invoice: Stripe.Invoice): string {
  const subscription = invoice.parent?.subscription_details?.subscription;
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
