import type { FastifyInstance } from 'fastify';
import type { Inbox } from './inbox.ts';
import { inboxPage } from './inbox-page.ts';

/** POST /inbox takes a delivery in; GET /inbox lists what arrived, as a page for browsers and as JSON for the rest. */
export function inboxRoutes(server: FastifyInstance, inbox: Inbox): void {
  server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

    scope.post('/inbox', { schema: { hide: true } }, async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const { verified } = await inbox.receive(request.headers, body);
      return reply.code(verified ? 200 : 401).send({ verified });
    });

    scope.get('/inbox', { schema: { hide: true } }, async (request, reply) => {
      const arrivals = inbox.list();
      if (!request.headers.accept?.includes('text/html')) return { data: arrivals };
      return reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
        .serializer(String)
        .send(inboxPage(arrivals));
    });
  });
}
