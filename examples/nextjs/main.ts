/** Starts and calls the app as Next.js does, Request in and Response out, with an event that Stripe's own library signs. */
import Stripe from 'stripe';
import { POST } from './app/api/webhooks/stripe/route.ts';
import { register } from './instrumentation.ts';
import { openHooks } from './lib/hooks.ts';

process.env.NEXT_RUNTIME = 'nodejs';
await register();

const payload = JSON.stringify({
  id: 'evt_1',
  object: 'event',
  type: 'invoice.paid',
  created: Math.floor(Date.now() / 1000),
  data: { object: { id: 'in_1', object: 'invoice' } },
});
const secret = process.env.STRIPE_WEBHOOK_SECRET ?? '';
const signature = new Stripe('sk_test').webhooks.generateTestHeaderString({ payload, secret });
for (const headers of [{ 'stripe-signature': signature }, { 'stripe-signature': 't=1,v1=forged' }]) {
  const request = new Request('http://localhost/api/webhooks/stripe', { method: 'POST', body: payload, headers });
  const response = await POST(request);
  console.log(response.status, await response.text());
}
const { posthorn } = await openHooks();
await posthorn.close();
