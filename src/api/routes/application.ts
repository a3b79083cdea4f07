import { Type } from 'typebox';
import type { Application } from '../../model/index.ts';
import type { RouteGroup } from '../api.ts';
import { ApplicationIn, ApplicationOut, ApplicationPatch, AppPath, ListOf, OrderedPageQuery } from '../contract.ts';
import { remembering } from '../idempotency.ts';
import { listOut, time } from '../wire.ts';

const tags = ['Application'];

export const applicationRoutes: RouteGroup = (api, { resources: { applications } }) => {
  api.get(
    '/app',
    {
      schema: {
        tags,
        operationId: 'v1.application.list',
        summary: 'List applications, oldest first',
        querystring: Type.Object(OrderedPageQuery),
        response: { 200: ListOf(ApplicationOut) },
      },
    },
    async ({ query }) => listOut(await applications.list(query), applicationOut),
  );

  api.post(
    '/app',
    {
      config: { remembersInCommit: true },
      schema: {
        tags,
        operationId: 'v1.application.create',
        summary: 'Create an application, or get the one that has the uid',
        querystring: Type.Object({ get_if_exists: Type.Optional(Type.Boolean()) }),
        body: ApplicationIn,
        response: { 200: ApplicationOut, 201: ApplicationOut },
      },
    },
    async (request, reply) => {
      const { record, created } = await applications.create(request.body, {
        getIfExists: request.query.get_if_exists ?? false,
        remember: remembering(request, 201, applicationOut),
      });
      return reply.code(created ? 201 : 200).send(applicationOut(record));
    },
  );

  api.get(
    '/app/:app',
    {
      config: { access: 'application' },
      schema: {
        tags,
        operationId: 'v1.application.get',
        summary: 'Get an application',
        params: AppPath,
        response: { 200: ApplicationOut },
      },
    },
    async ({ params }) => applicationOut(await applications.get(params.app)),
  );

  api.put(
    '/app/:app',
    {
      schema: {
        tags,
        operationId: 'v1.application.update',
        summary: 'Replace an application, or create one',
        params: AppPath,
        body: ApplicationIn,
        response: { 200: ApplicationOut, 201: ApplicationOut },
      },
    },
    async ({ params, body }, reply) => {
      const { record, created } = await applications.update(params.app, body);
      return reply.code(created ? 201 : 200).send(applicationOut(record));
    },
  );

  api.patch(
    '/app/:app',
    {
      schema: {
        tags,
        operationId: 'v1.application.patch',
        summary: 'Change some fields of an application',
        params: AppPath,
        body: ApplicationPatch,
        response: { 200: ApplicationOut },
      },
    },
    async ({ params, body }) => applicationOut(await applications.patch(params.app, body)),
  );

  api.delete(
    '/app/:app',
    {
      schema: {
        tags,
        operationId: 'v1.application.delete',
        summary: 'Delete an application with its endpoints',
        params: AppPath,
        response: { 204: Type.Null() },
      },
    },
    async ({ params }, reply) => {
      await applications.delete(params.app);
      return reply.code(204).send(null);
    },
  );
};

/** uid and rate limit are left out when there is none, as Svix does. */
export function applicationOut(application: Application): ApplicationOut {
  const { id, uid, name, rateLimit, metadata, policy, createdAt, updatedAt } = application;
  return {
    ...(uid !== undefined && { uid }),
    id,
    name,
    ...(rateLimit !== undefined && { rateLimit, throttleRate: rateLimit }),
    metadata,
    policy: policy ?? null,
    createdAt: time(createdAt),
    updatedAt: time(updatedAt),
  };
}
