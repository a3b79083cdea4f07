/** What is done to an endpoint besides changing its record: secret, headers, pause and resume. */
import { Type } from 'typebox';
import type { RouteGroup } from '../api.ts';
import {
  EndpointOut,
  EndpointPath,
  HeadersIn,
  HeadersOut,
  HeadersPatch,
  PauseIn,
  RotateIn,
  SecretOut,
} from '../contract.ts';
import { endpointOut } from './endpoint.ts';

const tags = ['Endpoint'];
const config = { access: 'application' } as const;
const base = '/app/:app/endpoint/:endpoint';
const done = { 204: Type.Null() };

export const endpointControlRoutes: RouteGroup = (api, { resources: { endpoints } }) => {
  api.get(
    `${base}/secret`,
    {
      config: { ...config, tellsSecret: true },
      schema: {
        tags,
        operationId: 'v1.endpoint.get-secret',
        summary: 'What the receiver verifies signatures with',
        params: EndpointPath,
        response: { 200: SecretOut },
      },
    },
    async ({ params }) => ({ key: await endpoints.getSecret(params.app, params.endpoint) }),
  );

  api.post(
    `${base}/secret/rotate`,
    {
      config,
      schema: {
        tags,
        operationId: 'v1.endpoint.rotate-secret',
        summary: 'Sign with a new secret; the old one signs along for the grace period',
        params: EndpointPath,
        body: RotateIn,
        response: done,
      },
    },
    async ({ params, body }, reply) => {
      await endpoints.rotate(params.app, params.endpoint, body);
      return reply.code(204).send(null);
    },
  );

  api.get(
    `${base}/headers`,
    {
      config,
      schema: {
        tags,
        operationId: 'v1.endpoint.get-headers',
        summary: 'The custom headers, with the values of sensitive ones left out',
        params: EndpointPath,
        response: { 200: HeadersOut },
      },
    },
    async ({ params }) => endpoints.getHeaders(params.app, params.endpoint),
  );

  api.put(
    `${base}/headers`,
    {
      config,
      schema: {
        tags,
        operationId: 'v1.endpoint.update-headers',
        summary: 'Replace the custom headers',
        params: EndpointPath,
        body: HeadersIn,
        response: done,
      },
    },
    async ({ params, body }, reply) => {
      await endpoints.putHeaders(params.app, params.endpoint, body.headers);
      return reply.code(204).send(null);
    },
  );

  api.patch(
    `${base}/headers`,
    {
      config,
      schema: {
        tags,
        operationId: 'v1.endpoint.patch-headers',
        summary: 'Change some custom headers; null takes one away',
        params: EndpointPath,
        body: HeadersPatch,
        response: done,
      },
    },
    async ({ params, body }, reply) => {
      const deleted = (body.deleteHeaders ?? []).map((name) => [name, null] as const);
      const changes = { ...body.headers, ...Object.fromEntries(deleted) };
      await endpoints.patchHeaders(params.app, params.endpoint, changes);
      return reply.code(204).send(null);
    },
  );

  api.post(
    `${base}/pause`,
    {
      config,
      schema: {
        tags,
        operationId: 'v1.endpoint.pause',
        summary: 'Send nothing until it is resumed; deliveries are held',
        params: EndpointPath,
        body: PauseIn,
        response: { 200: EndpointOut },
      },
    },
    async ({ params, body }) => endpointOut(await endpoints.pause(params.app, params.endpoint, body.reason)),
  );

  api.post(
    `${base}/resume`,
    {
      config,
      schema: {
        tags,
        operationId: 'v1.endpoint.resume',
        summary: 'Send again, what was held first, however the endpoint was stopped',
        params: EndpointPath,
        response: { 200: EndpointOut },
      },
    },
    async ({ params }) => endpointOut(await endpoints.resume(params.app, params.endpoint)),
  );
};
