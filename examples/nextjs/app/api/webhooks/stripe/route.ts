import type { EventsByType } from 'posthorn';
import type Stripe from 'stripe';
import { openHooks } from '../../../../lib/hooks.ts';

/** Not on the edge: Posthorn keeps events in a database and handles them in this process. */
export const runtime = 'nodejs';
export const dynamic = 'force-dynamic';

const hooks = await openHooks();
const stripe = hooks
  .source<EventsByType<Stripe.Event>>('stripe', { secret: process.env.STRIPE_WEBHOOK_SECRET ?? '' })
  .on('invoice.paid', (event) => {
    console.log(`${event.id}: invoice ${event.data.object.id} paid`);
  });

export const { GET, POST } = stripe.next();
