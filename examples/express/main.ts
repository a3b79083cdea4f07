/** An Express 5 app that takes webhooks in beside its JSON routes. */
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createPosthorn, type EventsByType } from 'posthorn';
import type Stripe from 'stripe';

const { STRIPE_WEBHOOK_SECRET, DATA_DIR = '.', PORT = '3000' } = process.env;
if (!STRIPE_WEBHOOK_SECRET) throw new Error('Set STRIPE_WEBHOOK_SECRET: `stripe listen` prints one, whsec_…');

const hooks = await createPosthorn({ store: `sqlite:${DATA_DIR}/express-posthorn.db` });
const stripe = hooks
  .source<EventsByType<Stripe.Event>>('stripe', { secret: STRIPE_WEBHOOK_SECRET })
  .on('invoice.paid', (event, { attempt }) => {
    console.log(`${event.id}: invoice ${event.data.object.id} paid, attempt ${attempt}`);
  });

const app = express();
// Before express.json(): the signature is over the bytes as they came, and parsing loses them.
app.post('/webhooks/stripe', stripe.node());
app.use(express.json());
app.post('/echo', (request, response) => void response.json(request.body));
app.get('/health/webhooks', async (_, response) => {
  const health = await hooks.webhookHealth();
  response.status(health.status === 'unhealthy' ? 503 : 200).json(health);
});

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
async function stop(): Promise<void> {
  server.close();
  server.closeAllConnections();
  await hooks.close();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
