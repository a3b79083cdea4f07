import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { SourceInput, SourceView } from '../../resources/index.ts';
import type { RouteGroup } from '../api.ts';
import { ListOf, OrderedPageQuery } from '../contract.ts';
import { NewSecretIn, NewUrlIn, NewUrlOut, SourceIn, SourceOut, SourcePath } from '../contract-ingest.ts';
import { remembering } from '../idempotency.ts';
import { refuseMisspeltSourceFields } from '../unknown-names.ts';
import { listOut, time } from '../wire.ts';

const tags = ['Source'];

/** Providers that sign as Svix does, and what Svix calls a sender without a signature. */
const PROVIDER_OF: ReadonlyMap<string, string> = new Map([
  ['generic-webhook', 'none'],
  ...'beehiiv brex guesty incident-io lithic nash open-ai pleo psi-fi render replicate safebase sardine stych'
    .split(' ')
    .map((type) => [type, 'svix'] as const),
]);

/** What a source of this type is stored as. */
export function providerOfType(type: string): string {
  return PROVIDER_OF.get(type) ?? type;
}

export const sourceRoutes: RouteGroup = (api, { resources: { sources }, publicUrl }) => {
  // Without a public URL, the address that the caller used is the best guess at one that others can.
  const urlOf = ({ protocol, host }: FastifyRequest, { id, uid, urlToken }: SourceView) => {
    const plain = `${publicUrl ?? `${protocol}://${host}`}/in/${encodeURIComponent(uid ?? id)}`;
    return urlToken === undefined ? plain : `${plain}/${urlToken}`;
  };

  function sourceOut(request: FastifyRequest, source: SourceView): SourceOut {
    // A kept answer lies in the store as it is, and a secret does not.
    const isTold = request.token.scope !== 'read-only' && request.idempotent === undefined;
    return toSourceOut(source, source.urlToken === undefined || isTold ? urlOf(request, source) : null);
  }

  api.get(
    '/source',
    {
      schema: {
        tags,
        operationId: 'v1.ingest.source.list',
        summary: 'List sources, oldest first',
        querystring: Type.Object(OrderedPageQuery),
        response: { 200: ListOf(SourceOut) },
      },
    },
    async (request) => listOut(await sources.list(request.query), (source) => sourceOut(request, source)),
  );

  api.post(
    '/source',
    {
      config: { remembersInCommit: true },
      preValidation: refuseMisspeltSourceFields,
      schema: {
        tags,
        operationId: 'v1.ingest.source.create',
        summary: 'Create a source: where webhooks of others come in',
        body: SourceIn,
        response: { 201: SourceOut },
      },
    },
    async (request, reply) => {
      const toOut = (source: SourceView) => sourceOut(request, source);
      const made = await sources.create(inputOf(request.body), { remember: remembering(request, 201, toOut) });
      return reply.code(201).send(toOut(made));
    },
  );

  api.get(
    '/source/:source',
    {
      schema: {
        tags,
        operationId: 'v1.ingest.source.get',
        summary: 'Get a source',
        params: SourcePath,
        response: { 200: SourceOut },
      },
    },
    async (request) => sourceOut(request, await sources.get(request.params.source)),
  );

  api.put(
    '/source/:source',
    {
      preValidation: refuseMisspeltSourceFields,
      schema: {
        tags,
        operationId: 'v1.ingest.source.update',
        summary: 'Replace a source, or create one',
        description:
          'Its config stays when it is left out, and its secrets when none is given. So does its uid, which its receiving URL ' +
          'is made of; a new source has that of the path. Null takes it away, and the URL is then that of its id.',
        params: SourcePath,
        body: SourceIn,
        response: { 200: SourceOut, 201: SourceOut },
      },
    },
    async (request, reply) => {
      const { record, created } = await sources.update(request.params.source, inputOf(request.body));
      return reply.code(created ? 201 : 200).send(sourceOut(request, record));
    },
  );

  api.post(
    '/source/:source/secret/rotate',
    {
      schema: {
        tags,
        operationId: 'v1.ingest.source.rotate-secret',
        summary: 'Take a new secret of the provider; the one before is taken too until it is dropped',
        params: SourcePath,
        body: NewSecretIn,
        response: { 200: SourceOut },
      },
    },
    async (request) => sourceOut(request, await sources.rotateSecret(request.params.source, request.body)),
  );

  api.post(
    '/source/:source/token/rotate',
    {
      config: { tellsSecret: true },
      schema: {
        tags,
        operationId: 'v1.ingest.source.rotate-token',
        summary:
          'Give the receiving URL a new token; the URL before is taken too for 48 hours or dropped, then it is a 404',
        params: SourcePath,
        body: NewUrlIn,
        response: { 200: NewUrlOut },
      },
    },
    async (request) => ({
      ingestUrl: urlOf(request, await sources.rotateUrlToken(request.params.source, request.body)),
    }),
  );

  api.delete(
    '/source/:source',
    {
      schema: {
        tags,
        operationId: 'v1.ingest.source.delete',
        summary: 'Delete a source with its endpoints and handlers',
        params: SourcePath,
        response: { 204: Type.Null() },
      },
    },
    async ({ params }, reply) => {
      await sources.delete(params.source);
      return reply.code(204).send(null);
    },
  );
};

function inputOf({ type, config, ...rest }: SourceIn): SourceInput {
  const given = Object.entries(config ?? {}).filter((entry): entry is [string, string | string[]] => entry[1] !== null);
  return {
    ...rest,
    provider: providerOfType(type),
    ...(config !== undefined && { settings: Object.fromEntries(given) }),
  };
}

function toSourceOut(source: SourceView, ingestUrl: string | null): SourceOut {
  const { id, uid, name, provider, settings, metadata, policy, onUnknownEvent, dedupe, forwardAs } = source;
  const { formerUrls, formerSecrets } = source;
  return {
    id,
    uid: uid ?? null,
    name,
    type: provider === 'none' ? 'generic-webhook' : provider,
    provider,
    config: settings,
    metadata,
    ingestUrl,
    ...(formerUrls && {
      formerUrls: formerUrls.map(({ hasToken, expiresAt }) => ({ hasToken, expiresAt: time(expiresAt) })),
    }),
    ...(formerSecrets !== undefined && { formerSecrets }),
    policy,
    onUnknownEvent,
    dedupe,
    forwardAs,
    warning: source.warning ?? null,
    createdAt: time(source.createdAt),
    updatedAt: time(source.updatedAt),
  };
}
