/**
 * Node ends idle connections when a server begins to close, but one that is being answered then is kept alive after its
 * answer, and the end waits for it: more than a minute. Told to close, the client lets it go.
 */
import type { FastifyInstance } from 'fastify';

export function endConnectionsOnClose(server: FastifyInstance): void {
  let isClosing = false;
  server.addHook('preClose', async () => {
    isClosing = true;
  });
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing) reply.header('connection', 'close');
    done(null, payload);
  });
}
