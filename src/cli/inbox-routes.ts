import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Inbox } from './inbox.ts';
import { inboxPage } from './inbox-page.ts';

/** POST /inbox takes a delivery in; GET /inbox lists what arrived, as a page for browsers and as JSON for the rest. A browser at / is led there. */
export function inboxRoutes(server: FastifyInstance, inbox: Inbox): void {
  server.addHook('onRequest', async (request, reply) => {
    if (request.url === '/' && wantsPage(request)) return reply.redirect('/inbox');
  });

  server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

    scope.post('/inbox', { schema: { hide: true } }, async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const arrival = await inbox.receive(request.headers, body);
      if (arrival === undefined) {
        return reply.code(503).header('retry-after', '1').send({ code: 'not_ready', detail: 'The inbox opens soon' });
      }
      return reply.code(arrival.verified ? 200 : 401).send({ verified: arrival.verified });
    });

    scope.get('/inbox', { schema: { hide: true } }, async (request, reply) => {
      const arrivals = inbox.list();
      if (!wantsPage(request)) return { data: arrivals };
      return reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
        .serializer(String)
        .send(inboxPage(arrivals));
    });
  });
}

function wantsPage({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && (headers.accept?.includes('text/html') ?? false);
}
