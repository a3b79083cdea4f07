/** The events of a subscription's life and of a payment's, with the fields that handlers read. */
import type { Sample, Samples } from './define-provider.ts';
import type { SampleOptions } from './provider.ts';

const API_VERSION = '2025-09-30.clover';
const MONTH_S = 30 * 86_400;

type Make = (options: SampleOptions & { readonly nowS: number }) => object;

export const STRIPE_SAMPLES: Samples = {
  'customer.subscription.created': event('customer.subscription.created', (o) =>
    subscription(o, { status: 'trialing' }),
  ),
  'customer.subscription.updated': event('customer.subscription.updated', (o) => subscription(o, { status: 'active' })),
  'customer.subscription.deleted': event('customer.subscription.deleted', (o) =>
    subscription(o, { status: 'canceled', canceled_at: o.nowS, ended_at: o.nowS }),
  ),
  'invoice.paid': event('invoice.paid', (o) =>
    invoice(o, { status: 'paid', amount_paid: 2000, amount_remaining: 0, attempt_count: 1 }),
  ),
  'invoice.payment_failed': event('invoice.payment_failed', (o) =>
    invoice(o, {
      status: 'open',
      amount_paid: 0,
      amount_remaining: 2000,
      attempt_count: 1,
      next_payment_attempt: o.nowS + 3 * 86_400,
    }),
  ),
  'checkout.session.completed': event('checkout.session.completed', ({ token, nowS }) => ({
    id: `cs_test_${token}`,
    object: 'checkout.session',
    amount_total: 2000,
    client_reference_id: `user_${token}`,
    created: nowS,
    currency: 'usd',
    customer: `cus_${token}`,
    customer_details: { email: 'jenny.rosen@example.com', name: 'Jenny Rosen' },
    livemode: false,
    metadata: {},
    mode: 'subscription',
    payment_status: 'paid',
    status: 'complete',
    subscription: `sub_${token}`,
  })),
  'charge.refunded': event(
    'charge.refunded',
    ({ token, nowS }) => ({
      id: `ch_${token}`,
      object: 'charge',
      amount: 2000,
      amount_captured: 2000,
      amount_refunded: 2000,
      captured: true,
      created: nowS,
      currency: 'usd',
      customer: `cus_${token}`,
      livemode: false,
      metadata: {},
      paid: true,
      payment_intent: `pi_${token}`,
      refunded: true,
      status: 'succeeded',
    }),
    { amount_refunded: 0, refunded: false },
  ),
  'payment_intent.succeeded': event('payment_intent.succeeded', ({ token, nowS }) => ({
    id: `pi_${token}`,
    object: 'payment_intent',
    amount: 2000,
    amount_received: 2000,
    created: nowS,
    currency: 'usd',
    customer: `cus_${token}`,
    latest_charge: `ch_${token}`,
    livemode: false,
    metadata: {},
    payment_method_types: ['card'],
    status: 'succeeded',
  })),
};

/** `previous`: what the event's object had before it, as Stripe tells of what changes. */
function event(type: string, make: Make, previous?: object): (options: SampleOptions) => Sample {
  return (options) => {
    const nowS = Math.floor(options.now / 1000);
    return {
      body: {
        id: `evt_${options.token}`,
        object: 'event',
        api_version: API_VERSION,
        created: nowS,
        data: { object: make({ ...options, nowS }), ...(previous && { previous_attributes: previous }) },
        livemode: false,
        pending_webhooks: 1,
        request: { id: `req_${options.token}`, idempotency_key: null },
        type,
      },
    };
  };
}

function subscription({ token, nowS }: Parameters<Make>[0], fields: Readonly<Record<string, unknown>>): object {
  const trialing = fields.status === 'trialing';
  return {
    id: `sub_${token}`,
    object: 'subscription',
    cancel_at_period_end: false,
    canceled_at: null,
    collection_method: 'charge_automatically',
    created: nowS,
    currency: 'usd',
    customer: `cus_${token}`,
    ended_at: null,
    items: {
      object: 'list',
      data: [
        {
          id: `si_${token}`,
          object: 'subscription_item',
          current_period_start: nowS,
          current_period_end: nowS + MONTH_S,
          price: {
            id: 'price_pro_monthly',
            object: 'price',
            currency: 'usd',
            lookup_key: 'pro',
            product: 'prod_pro',
            recurring: { interval: 'month', interval_count: 1 },
            unit_amount: 2000,
          },
          quantity: 1,
        },
      ],
      has_more: false,
    },
    latest_invoice: `in_${token}`,
    livemode: false,
    metadata: { user_id: `user_${token}` },
    start_date: nowS,
    trial_start: trialing ? nowS : null,
    trial_end: trialing ? nowS + 14 * 86_400 : null,
    ...fields,
  };
}

function invoice({ token, nowS }: Parameters<Make>[0], fields: Readonly<Record<string, unknown>>): object {
  return {
    id: `in_${token}`,
    object: 'invoice',
    amount_due: 2000,
    billing_reason: 'subscription_cycle',
    collection_method: 'charge_automatically',
    created: nowS,
    currency: 'usd',
    customer: `cus_${token}`,
    customer_email: 'jenny.rosen@example.com',
    lines: {
      object: 'list',
      data: [
        {
          id: `il_${token}`,
          object: 'line_item',
          amount: 2000,
          currency: 'usd',
          period: { start: nowS, end: nowS + MONTH_S },
        },
      ],
      has_more: false,
    },
    livemode: false,
    metadata: {},
    parent: {
      type: 'subscription_details',
      subscription_details: { subscription: `sub_${token}`, metadata: { user_id: `user_${token}` } },
    },
    period_start: nowS,
    period_end: nowS + MONTH_S,
    total: 2000,
    ...fields,
  };
}
