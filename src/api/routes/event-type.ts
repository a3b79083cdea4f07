import { Type } from 'typebox';
import type { EventType } from '../../model/index.ts';
import type { RouteGroup } from '../api.ts';
import {
  EventTypeIn,
  EventTypeOut,
  EventTypePatch,
  EventTypeUpdate,
  ListOf,
  NamePath,
  OrderedPageQuery,
} from '../contract.ts';
import { remembering } from '../idempotency.ts';
import { listOut, time } from '../wire.ts';

const tags = ['Event Type'];
const config = { access: 'application' } as const;

export const eventTypeRoutes: RouteGroup = (api, { resources: { eventTypes } }) => {
  api.get(
    '/event-type',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.event-type.list',
        summary: 'List event types by name',
        querystring: Type.Object({
          ...OrderedPageQuery,
          include_archived: Type.Optional(Type.Boolean()),
          with_content: Type.Optional(Type.Boolean({ description: 'With the schemas.' })),
        }),
        response: { 200: ListOf(EventTypeOut) },
      },
    },
    async ({ query: { include_archived = false, with_content = false, ...page } }) =>
      listOut(await eventTypes.list({ ...page, includeArchived: include_archived }), (eventType) =>
        with_content ? eventTypeOut(eventType) : { ...eventTypeOut(eventType), schemas: null },
      ),
  );

  api.post(
    '/event-type',
    {
      config: { remembersInCommit: true },
      schema: {
        tags,
        operationId: 'v1.event-type.create',
        summary: 'Create an event type, or bring an archived one back',
        body: EventTypeIn,
        response: { 201: EventTypeOut },
      },
    },
    async (request, reply) => {
      const made = await eventTypes.create(request.body, { remember: remembering(request, 201, eventTypeOut) });
      return reply.code(201).send(eventTypeOut(made));
    },
  );

  api.get(
    '/event-type/:name',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.event-type.get',
        summary: 'Get an event type',
        params: NamePath,
        response: { 200: EventTypeOut },
      },
    },
    async ({ params }) => eventTypeOut(await eventTypes.get(params.name)),
  );

  api.put(
    '/event-type/:name',
    {
      schema: {
        tags,
        operationId: 'v1.event-type.update',
        summary: 'Replace an event type, or create it',
        params: NamePath,
        body: EventTypeUpdate,
        response: { 200: EventTypeOut, 201: EventTypeOut },
      },
    },
    async ({ params, body }, reply) => {
      const { record, created } = await eventTypes.update(params.name, body);
      return reply.code(created ? 201 : 200).send(eventTypeOut(record));
    },
  );

  api.patch(
    '/event-type/:name',
    {
      schema: {
        tags,
        operationId: 'v1.event-type.patch',
        summary: 'Change some fields of an event type',
        params: NamePath,
        body: EventTypePatch,
        response: { 200: EventTypeOut },
      },
    },
    async ({ params, body }) => eventTypeOut(await eventTypes.patch(params.name, body)),
  );

  api.delete(
    '/event-type/:name',
    {
      schema: {
        tags,
        operationId: 'v1.event-type.delete',
        summary: 'Archive an event type, or remove it',
        params: NamePath,
        querystring: Type.Object({ expunge: Type.Optional(Type.Boolean()) }),
        response: { 204: Type.Null() },
      },
    },
    async ({ params, query }, reply) => {
      await eventTypes.delete(params.name, { expunge: query.expunge ?? false });
      return reply.code(204).send(null);
    },
  );
};

function eventTypeOut(eventType: EventType): EventTypeOut {
  const { name, description, archived, deprecated, groupName, featureFlag, schemas, createdAt, updatedAt } = eventType;
  return {
    name,
    description,
    archived,
    deprecated,
    groupName: groupName ?? null,
    featureFlag: featureFlag ?? null,
    schemas: schemas ?? null,
    createdAt: time(createdAt),
    updatedAt: time(updatedAt),
  };
}
