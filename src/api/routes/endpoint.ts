import { Type } from 'typebox';
import type { EndpointView } from '../../resources/index.ts';
import type { RouteGroup } from '../api.ts';
import {
  AppPath,
  EndpointIn,
  EndpointOut,
  EndpointPatch,
  EndpointPath,
  ListOf,
  OrderedPageQuery,
} from '../contract.ts';
import { remembering } from '../idempotency.ts';
import { refuseMisspeltEndpointFields } from '../unknown-names.ts';
import { listOut, time, timeOrNull } from '../wire.ts';

const tags = ['Endpoint'];
const config = { access: 'application' } as const;

export const endpointRoutes: RouteGroup = (api, { resources: { endpoints } }) => {
  api.get(
    '/app/:app/endpoint',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.endpoint.list',
        summary: 'List endpoints, newest first',
        params: AppPath,
        querystring: Type.Object(OrderedPageQuery),
        response: { 200: ListOf(EndpointOut) },
      },
    },
    async ({ params, query }) => listOut(await endpoints.list(params.app, query), endpointOut),
  );

  api.post(
    '/app/:app/endpoint',
    {
      config: { ...config, remembersInCommit: true },
      preValidation: refuseMisspeltEndpointFields,
      schema: {
        tags,
        operationId: 'v1.endpoint.create',
        summary: 'Create an endpoint',
        params: AppPath,
        body: EndpointIn,
        response: { 201: EndpointOut },
      },
    },
    async (request, reply) => {
      const remember = remembering(request, 201, endpointOut);
      const made = await endpoints.create(request.params.app, request.body, { remember });
      return reply.code(201).send(endpointOut(made));
    },
  );

  api.get(
    '/app/:app/endpoint/:endpoint',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.endpoint.get',
        summary: 'Get an endpoint',
        params: EndpointPath,
        response: { 200: EndpointOut },
      },
    },
    async ({ params }) => endpointOut(await endpoints.get(params.app, params.endpoint)),
  );

  api.put(
    '/app/:app/endpoint/:endpoint',
    {
      config,
      preValidation: refuseMisspeltEndpointFields,
      schema: {
        tags,
        operationId: 'v1.endpoint.update',
        summary: 'Replace an endpoint (but for its secret), or create one',
        params: EndpointPath,
        body: EndpointIn,
        response: { 200: EndpointOut, 201: EndpointOut },
      },
    },
    async ({ params, body }, reply) => {
      const { record, created } = await endpoints.update(params.app, params.endpoint, body);
      return reply.code(created ? 201 : 200).send(endpointOut(record));
    },
  );

  api.patch(
    '/app/:app/endpoint/:endpoint',
    {
      config,
      preValidation: refuseMisspeltEndpointFields,
      schema: {
        tags,
        operationId: 'v1.endpoint.patch',
        summary: 'Change some fields of an endpoint',
        params: EndpointPath,
        body: EndpointPatch,
        response: { 200: EndpointOut },
      },
    },
    async ({ params, body }) => endpointOut(await endpoints.patch(params.app, params.endpoint, body)),
  );

  api.delete(
    '/app/:app/endpoint/:endpoint',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.endpoint.delete',
        summary: 'Delete an endpoint; its open deliveries are cancelled',
        params: EndpointPath,
        response: { 204: Type.Null() },
      },
    },
    async ({ params }, reply) => {
      await endpoints.delete(params.app, params.endpoint);
      return reply.code(204).send(null);
    },
  );
};

/** Both names of the renamed fields, so that clients of either generation find theirs. */
export function endpointOut(endpoint: EndpointView): EndpointOut {
  const { health } = endpoint;
  const rateLimit = endpoint.rateLimit ?? null;
  const eventTypes = endpoint.eventTypes ?? null;
  return {
    id: endpoint.id,
    uid: endpoint.uid ?? null,
    url: endpoint.url,
    description: endpoint.description,
    version: endpoint.version,
    // Svix clients know no other way to see that nothing is sent.
    disabled: health.status !== 'active',
    status: health.status,
    statusReason: health.reason,
    failureCount: health.failureCount,
    lastSuccessAt: timeOrNull(health.lastSuccessAt),
    lastFailureAt: timeOrNull(health.lastFailureAt),
    rateLimit,
    throttleRate: rateLimit,
    maxInFlight: endpoint.maxInFlight ?? null,
    filterTypes: eventTypes,
    eventTypes,
    channels: endpoint.channels ?? null,
    metadata: endpoint.metadata,
    policy: endpoint.policy ?? null,
    effectivePolicy: endpoint.effectivePolicy,
    createdAt: time(endpoint.createdAt),
    updatedAt: time(endpoint.updatedAt),
  };
}
