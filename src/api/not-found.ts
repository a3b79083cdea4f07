import type { FastifyInstance } from 'fastify';

interface KnownRoute {
  readonly path: RegExp;
  readonly methods: Set<string>;
}

/** Unknown paths get 404, known ones with another method 405; both with a JSON body, which the SDKs insist on. */
export function answerUnknownRoutes(server: FastifyInstance): void {
  const known = new Map<string, KnownRoute>();
  server.addHook('onRoute', ({ url, method }) => {
    const route = known.get(url) ?? { path: pathOf(url), methods: new Set() };
    for (const each of [method].flat()) route.methods.add(each);
    known.set(url, route);
  });

  server.setNotFoundHandler((request, reply) => {
    const path = request.url
      .replace(/\?.*$/s, '')
      .replace(/\/{2,}/g, '/')
      .replace(/(?<=.)\/$/, '');
    const methods = [...known.values()].filter((route) => route.path.test(path)).flatMap((route) => [...route.methods]);
    if (methods.length > 0) {
      const allow = [...new Set(methods)].sort().join(', ');
      return reply
        .code(405)
        .header('allow', allow)
        .send({
          code: 'method_not_allowed',
          detail: `${request.method} is not possible here; this path takes ${allow}`,
        });
    }
    return reply.code(404).send({
      code: 'not_found',
      detail: 'There is nothing at this path; GET /api/v1/openapi.json lists what there is',
    });
  });
}

function pathOf(url: string): RegExp {
  const escaped = url
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\/:\w+\\\?$/, '(/[^/]+)?')
    .replace(/:\w+/g, '[^/]+');
  return new RegExp(`^${escaped.replace(/(?<=.)\/$/, '')}$`);
}
