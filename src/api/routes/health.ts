import { Type } from 'typebox';
import { webhookHealth } from '../../resources/index.ts';
import type { Api, Served } from '../api.ts';
import { ErrorOut, Nullable } from '../contract.ts';
import { timeOrNull } from '../wire.ts';

const tags = ['Health'];
/** Enough to see trouble, and cheap to count. */
const MOST_COUNTED = 10_000;
const HealthOut = Type.Object({
  status: Type.String(),
  pending: Type.Integer(),
  retrying: Type.Integer({ description: 'Of the pending ones, those that have been tried before.' }),
  leased: Type.Integer(),
  held: Type.Integer(),
  dead: Type.Integer(),
  oldestDueAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
});

const WebhookHealthOut = Type.Object({
  status: Type.String(),
  webhooks: Type.Object({
    pending_retries: Nullable(Type.Integer()),
    dlq_items: Nullable(Type.Integer()),
    without_handler: Nullable(Type.Integer()),
    overdue: Nullable(Type.Integer({ description: 'Due for more than 15 minutes, and nobody has taken them.' })),
    timestamp: Type.String({ format: 'date-time' }),
  }),
});

/** What needs no token: whether the server lives, and what it can do. */
export function openRoutes(api: Api, { store, clock }: Served): void {
  for (const prefix of ['', '/api/v1']) {
    api.get(
      `${prefix}/health`,
      {
        schema: {
          tags,
          summary: 'How much is waiting, counted up to 10,000',
          security: [],
          response: { 200: HealthOut, 503: ErrorOut },
        },
      },
      async (request, reply) => {
        try {
          const { oldestDueAt, untaken: _, overdue: __, ...counts } = await store.counts({ most: MOST_COUNTED });
          return { status: 'ok', ...counts, oldestDueAt: timeOrNull(oldestDueAt) };
        } catch (error) {
          request.log.error({ err: error }, 'the store does not answer');
          const detail = 'The store does not answer; the server log says why';
          return reply.code(503).send({ code: 'store_unavailable', detail });
        }
      },
    );
    api.get(
      `${prefix}/health/ping`,
      { schema: { tags, summary: 'Whether the server answers', security: [], response: { 204: Type.Null() } } },
      async (_, reply) => reply.code(204).send(null),
    );
  }

  api.get(
    '/health/webhooks',
    {
      schema: {
        tags,
        summary: 'How many events wait for a retry, and how many are dead letters',
        security: [],
        response: { 200: WebhookHealthOut, 503: WebhookHealthOut },
      },
    },
    async (request, reply) => {
      const health = await webhookHealth(store, clock, (error) => {
        request.log.error({ error }, 'the store does not answer');
      });
      return reply.code(health.status === 'unhealthy' ? 503 : 200).send(health);
    },
  );

  api.get('/', { schema: { hide: true } }, async () => ({
    name: 'Posthorn',
    api: '/api/v1',
    openapi: '/api/v1/openapi.json',
    health: '/health',
  }));

  let document: string | undefined;
  api.get('/api/v1/openapi.json', { schema: { hide: true } }, async (_, reply) => {
    document ??= JSON.stringify(api.swagger());
    return reply.type('application/json; charset=utf-8').send(document);
  });
}
