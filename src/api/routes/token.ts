import { Type } from 'typebox';
import type { TokenView } from '../../resources/index.ts';
import type { RouteGroup } from '../api.ts';
import { ListOf, NewTokenOut, OrderedPageQuery, TokenIn, TokenOut } from '../contract.ts';
import { readTime } from '../time-query.ts';
import { listOut, time, timeOrNull } from '../wire.ts';

const tags = ['Token'];
const IdPath = Type.Object({ id: Type.String() });

export const tokenRoutes: RouteGroup = (api, { resources: { tokens } }) => {
  api.get(
    '/token',
    {
      schema: {
        tags,
        operationId: 'v1.token.list',
        summary: 'List tokens, without what is secret in them',
        querystring: Type.Object(OrderedPageQuery),
        response: { 200: ListOf(TokenOut) },
      },
    },
    async ({ query }) => listOut(await tokens.list(query), tokenOut),
  );

  api.post(
    '/token',
    {
      config: { tellsSecret: true },
      schema: {
        tags,
        operationId: 'v1.token.create',
        summary: 'Make a token; this answer is the only place that has it',
        body: TokenIn,
        response: { 201: NewTokenOut },
      },
    },
    async ({ body: { expiresAt, ...input } }, reply) => {
      const ends = typeof expiresAt === 'string' ? readTime(expiresAt, ['body', 'expiresAt']) : null;
      const { token, record } = await tokens.create({ ...input, expiresAt: ends });
      return reply.code(201).send({ ...tokenOut(record), token });
    },
  );

  api.get(
    '/token/:id',
    {
      schema: {
        tags,
        operationId: 'v1.token.get',
        summary: 'Get a token, without what is secret in it',
        params: IdPath,
        response: { 200: TokenOut },
      },
    },
    async ({ params }) => tokenOut(await tokens.get(params.id)),
  );

  api.delete(
    '/token/:id',
    {
      schema: {
        tags,
        operationId: 'v1.token.delete',
        summary: 'Delete a token; whoever has it is let in no more',
        params: IdPath,
        response: { 204: Type.Null() },
      },
    },
    async ({ params }, reply) => {
      await tokens.delete(params.id);
      return reply.code(204).send(null);
    },
  );
};

function tokenOut({ id, name, scope, applicationId, createdAt, updatedAt, expiresAt }: TokenView): TokenOut {
  return {
    id,
    name,
    scope,
    applicationId: applicationId ?? null,
    createdAt: time(createdAt),
    updatedAt: time(updatedAt),
    expiresAt: timeOrNull(expiresAt),
  };
}
