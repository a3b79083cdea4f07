// The limit of receiving: a Fastify route that reads the body, verifies its signature, and keeps nothing.
import { fastify } from 'fastify';
import { isFromStripe } from '../stripe-event.mjs';

export async function open({ onRecorded }) {
  const server = fastify({ logger: false });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  server.post('/in/stripe', async (request, reply) => {
    if (!isFromStripe(request.headers['stripe-signature'], request.body)) return reply.code(401).send();
    onRecorded();
    return reply.code(200).header('content-type', 'application/json').send('{"received":true}');
  });
  const apiUrl = await server.listen({ host: '127.0.0.1', port: 0 });
  return { address: { apiUrl, receivesAt: '/in/stripe' }, close: () => server.close() };
}
