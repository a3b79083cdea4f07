/** Events as Stripe sends them, signed by Stripe's own library. */
import Stripe from 'stripe';
import { findProvider } from '../../src/inbound/providers/index.ts';

export const STRIPE_SECRET = 'whsec_test';
const stripe = new Stripe('sk_test_1');

export interface EventFields {
  readonly id: string;
  readonly created: number;
  readonly data: { readonly object: Record<string, unknown> };
}

let count = 0;

/** Ids of Stripe's objects end in the token: the same token, the same subscription. */
export function stripeEvent(
  type: string,
  { token = '1', created = 1_767_225_600, object = {} }: { token?: string; created?: number; object?: object } = {},
): EventFields {
  const sample = findProvider('stripe').sample(type, { now: created * 1000, token });
  const event = JSON.parse(Buffer.from(sample.body).toString()) as EventFields;
  return { ...event, id: `evt_${++count}`, data: { object: { ...event.data.object, ...object } } };
}

export function signedRequest(event: object, nowMs = Date.now(), secret = STRIPE_SECRET) {
  const payload = JSON.stringify(event);
  const timestamp = Math.floor(nowMs / 1000);
  const signature = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  return {
    method: 'POST',
    body: payload,
    headers: { 'content-type': 'application/json', 'stripe-signature': signature },
  };
}
