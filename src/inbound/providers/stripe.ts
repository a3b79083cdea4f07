import { defineProvider } from './define-provider.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import { inboundEvent } from './inbound-event.ts';
import { at, objectBody } from './json-body.ts';
import { listedSignature } from './listed-signature.ts';
import { STRIPE_SAMPLES } from './stripe-samples.ts';

export const stripe = defineProvider({
  name: 'stripe',
  title: 'Stripe',
  doc: 'Stripe-Signature: HMAC-SHA256 over the timestamp and the body',
  settings: {
    signingSecret: {
      doc: 'whsec_… from the page of the webhook endpoint (or from `stripe listen`)',
      required: true,
      secret: true,
      list: true,
    },
  },
  // The tolerance of Stripe's own libraries. Each retry is signed afresh.
  toleranceMs: 5 * MINUTE_MS,
  // Retries last 3 days in live mode, and a person can resend an event for 30 (docs.stripe.com/webhooks).
  dedupeForMs: 30 * DAY_MS,
  ...listedSignature({
    secret: 'signingSecret',
    header: 'stripe-signature',
    separator: ',',
    timeName: 't',
    signatureName: 'v1',
    joint: '.',
  }),
  eventOf(request) {
    const body = objectBody(request);
    const created = at(body, 'created');
    return inboundEvent({
      id: body.id,
      type: body.type,
      createdAt: typeof created === 'number' ? created * 1000 : undefined,
    });
  },
  samples: STRIPE_SAMPLES,
});
