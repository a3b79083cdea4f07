/** A source's destinations: the URLs that its events are sent on to, and the handlers that processes declared. */
import { Type } from 'typebox';
import type { RouteGroup } from '../api.ts';
import {
  EndpointIn,
  EndpointOut,
  HeadersIn,
  HeadersOut,
  ListOf,
  OrderedPageQuery,
  RotateIn,
  SecretOut,
} from '../contract.ts';
import { SourceEndpointPath, SourcePath } from '../contract-ingest.ts';
import { remembering } from '../idempotency.ts';
import { refuseMisspeltEndpointFields } from '../unknown-names.ts';
import { listOut } from '../wire.ts';
import { endpointOut } from './endpoint.ts';

const tags = ['Source endpoint'];
const list = '/source/:source/endpoint';
const one = `${list}/:endpoint`;

export const sourceEndpointRoutes: RouteGroup = (api, { resources: { endpoints, sources } }) => {
  const idOf = async (source: string) => (await sources.get(source)).id;
  const describe = (operationId: string, summary: string) => ({
    tags,
    operationId: `v1.ingest.endpoint.${operationId}`,
    summary,
  });

  api.get(
    list,
    {
      schema: {
        ...describe('list', 'List the endpoints and handlers of a source, newest first'),
        params: SourcePath,
        querystring: Type.Object(OrderedPageQuery),
        response: { 200: ListOf(EndpointOut) },
      },
    },
    async ({ params, query }) => listOut(await endpoints.list(await idOf(params.source), query), endpointOut),
  );

  api.post(
    list,
    {
      config: { remembersInCommit: true },
      preValidation: refuseMisspeltEndpointFields,
      schema: {
        ...describe('create', 'Send the events of a source on to a URL'),
        params: SourcePath,
        body: EndpointIn,
        response: { 201: EndpointOut },
      },
    },
    async (request, reply) => {
      const remember = remembering(request, 201, endpointOut);
      const made = await endpoints.create(await idOf(request.params.source), request.body, { remember });
      return reply.code(201).send(endpointOut(made));
    },
  );

  api.get(
    one,
    {
      schema: {
        ...describe('get', 'Get an endpoint or handler of a source'),
        params: SourceEndpointPath,
        response: { 200: EndpointOut },
      },
    },
    async ({ params }) => endpointOut(await endpoints.get(await idOf(params.source), params.endpoint)),
  );

  api.put(
    one,
    {
      preValidation: refuseMisspeltEndpointFields,
      schema: {
        ...describe('update', 'Replace an endpoint (but for its secret), or create one'),
        params: SourceEndpointPath,
        body: EndpointIn,
        response: { 200: EndpointOut, 201: EndpointOut },
      },
    },
    async ({ params, body }, reply) => {
      const { record, created } = await endpoints.update(await idOf(params.source), params.endpoint, body);
      return reply.code(created ? 201 : 200).send(endpointOut(record));
    },
  );

  api.delete(
    one,
    {
      schema: {
        ...describe('delete', 'Delete an endpoint or handler; its open deliveries are cancelled'),
        params: SourceEndpointPath,
        response: { 204: Type.Null() },
      },
    },
    async ({ params }, reply) => {
      await endpoints.delete(await idOf(params.source), params.endpoint);
      return reply.code(204).send(null);
    },
  );

  api.get(
    `${one}/secret`,
    {
      config: { tellsSecret: true },
      schema: {
        ...describe('get-secret', 'What the receiver verifies signatures with'),
        params: SourceEndpointPath,
        response: { 200: SecretOut },
      },
    },
    async ({ params }) => ({ key: await endpoints.getSecret(await idOf(params.source), params.endpoint) }),
  );

  api.post(
    `${one}/secret/rotate`,
    {
      schema: {
        ...describe('rotate-secret', 'Sign with a new secret; the old one signs along for the grace period'),
        params: SourceEndpointPath,
        body: RotateIn,
        response: { 204: Type.Null() },
      },
    },
    async ({ params, body }, reply) => {
      await endpoints.rotate(await idOf(params.source), params.endpoint, body);
      return reply.code(204).send(null);
    },
  );

  api.get(
    `${one}/headers`,
    {
      schema: {
        ...describe('get-headers', 'The headers that are sent along'),
        params: SourceEndpointPath,
        response: { 200: HeadersOut },
      },
    },
    async ({ params }) => endpoints.getHeaders(await idOf(params.source), params.endpoint),
  );

  api.put(
    `${one}/headers`,
    {
      schema: {
        ...describe('update-headers', 'Replace the headers that are sent along'),
        params: SourceEndpointPath,
        body: HeadersIn,
        response: { 204: Type.Null() },
      },
    },
    async ({ params, body }, reply) => {
      await endpoints.putHeaders(await idOf(params.source), params.endpoint, body.headers);
      return reply.code(204).send(null);
    },
  );
};
