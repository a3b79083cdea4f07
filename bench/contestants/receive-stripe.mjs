// Receiving as Stripe's documentation writes it: a Fastify route that hands the raw body to Stripe's own package, which
// verifies and parses it, and keeps nothing.
import { fastify } from 'fastify';
import Stripe from 'stripe';
import { STRIPE_SECRET } from '../stripe-event.mjs';

export async function open({ onRecorded }) {
  const stripe = new Stripe('sk_test_of_the_bench');
  const server = fastify({ logger: false });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  server.post('/in/stripe', async (request, reply) => {
    try {
      stripe.webhooks.constructEvent(request.body, request.headers['stripe-signature'], STRIPE_SECRET);
    } catch {
      return reply.code(400).send();
    }
    onRecorded();
    return reply.send({ received: true });
  });
  const apiUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  return { address: { apiUrl, receivesAt: '/in/stripe' }, close: () => server.close() };
}
