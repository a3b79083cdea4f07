import { type Static, Type } from 'typebox';
import type { Attempt } from '../../model/index.ts';
import { type AttemptQuery, type Listing, PROGRESS } from '../../resources/index.ts';
import type { RouteGroup } from '../api.ts';
import { ListOf } from '../contract.ts';
import {
  AttemptedDestinationOut,
  AttemptedDestinationQuery,
  AttemptedMessageOut,
  AttemptedMessageQuery,
  AttemptListQuery,
  AttemptOut,
  AttemptPath,
  EndpointPath,
  MessageEndpointPath,
  MessagePath,
} from '../contract-delivery.ts';
import { attemptOut, destinationOut, progressOut } from '../delivery-out.ts';
import { listText, messageText, sendText, withMember } from '../message-text.ts';
import { readTimeQuery } from '../time-query.ts';
import { listOut } from '../wire.ts';

const tags = ['Message Attempt'];
const config = { access: 'application' } as const;
const FOLLOWING =
  'To follow it, ask again with the prevIterator of the last page: those of the last seconds come more than once, for an older one may still come between them.';
const NOTHING: Listing<never> = { data: [], iterator: null, done: true };
type ListQuery = Static<typeof AttemptListQuery>;

export const attemptRoutes: RouteGroup = (api, { resources: { attempts, deliveries, messages } }) => {
  async function listed(query: ListQuery, read: (asked: AttemptQuery) => Promise<Listing<Attempt>>, app: string) {
    const asked = readAttemptQuery(query);
    // An attempt is written when it has ended: none is pending, sending or canceled.
    const listing = asked === undefined ? NOTHING : await read(asked);
    const withContent = query.with_content ?? true;
    if (query.with_msg !== true) return JSON.stringify(listOut(listing, (attempt) => attemptOut(attempt, withContent)));
    const texts = new Map<Attempt, string>();
    for (const attempt of listing.data) {
      const message = await messages.get(app, attempt.messageId);
      const text = JSON.stringify(attemptOut(attempt, withContent));
      texts.set(attempt, withMember(text, 'msg', messageText(message, withContent)));
    }
    return listText(listing, (attempt) => texts.get(attempt) ?? '');
  }

  api.get(
    '/app/:app/attempt/endpoint/:endpoint',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.message-attempt.list-by-endpoint',
        summary: 'List the attempts at an endpoint, newest first',
        description: FOLLOWING,
        params: EndpointPath,
        querystring: AttemptListQuery,
        response: { 200: ListOf(AttemptOut) },
      },
    },
    async ({ params: { app, endpoint }, query }, reply) =>
      sendText(reply, await listed(query, (asked) => attempts.listByEndpoint(app, endpoint, asked), app)),
  );

  // The second path is Svix's older name of the first.
  for (const [url, hide] of [
    ['/app/:app/attempt/msg/:msg', false],
    ['/app/:app/msg/:msg/attempt', true],
  ] as const) {
    api.get(
      url,
      {
        config,
        schema: {
          tags,
          hide,
          operationId: 'v1.message-attempt.list-by-msg',
          summary: 'List the attempts of a message, newest first',
          params: MessagePath,
          querystring: AttemptListQuery,
          response: { 200: ListOf(AttemptOut) },
        },
      },
      async ({ params: { app, msg }, query }, reply) => {
        const endpoint = query.endpoint_id === undefined ? {} : { endpoint: query.endpoint_id };
        const read = (asked: AttemptQuery) => attempts.listByMessage(app, msg, { ...asked, ...endpoint });
        return sendText(reply, await listed(query, read, app));
      },
    );
  }

  api.get(
    '/app/:app/msg/:msg/attempt/:attempt',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.message-attempt.get',
        summary: 'Get an attempt, with what was decided and why',
        params: AttemptPath,
        response: { 200: AttemptOut },
      },
    },
    async ({ params: { app, msg, attempt } }) => attemptOut(await attempts.get(app, msg, attempt)),
  );

  api.get(
    '/app/:app/endpoint/:endpoint/msg',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.message-attempt.list-attempted-messages',
        summary: 'List the messages of an endpoint and how far each is, newest first',
        params: EndpointPath,
        querystring: AttemptedMessageQuery,
        response: { 200: ListOf(AttemptedMessageOut) },
      },
    },
    async ({ params: { app, endpoint }, query }, reply) => {
      const { status, channel, tag, with_content: withContent = true, expanded_statuses: expanded = false } = query;
      const progress = status === undefined ? undefined : PROGRESS[status];
      const listing = await attempts.listMessages(app, endpoint, {
        ...readTimeQuery(query),
        ...(channel !== undefined && { channel }),
        ...(tag !== undefined && { tag }),
        ...(progress !== undefined && { progress }),
      });
      const text = listText(listing, ({ delivery, message }) =>
        messageText(message, withContent, progressOut(delivery, expanded)),
      );
      return sendText(reply, text);
    },
  );

  api.get(
    '/app/:app/msg/:msg/endpoint',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.message-attempt.list-attempted-destinations',
        summary: 'List the endpoints of a message and how far each is; deleted ones too',
        params: MessagePath,
        querystring: AttemptedDestinationQuery,
        response: { 200: ListOf(AttemptedDestinationOut) },
      },
    },
    async ({ params: { app, msg }, query: { limit, iterator, expanded_statuses: expanded = false } }) => {
      const page = { ...(limit !== undefined && { limit }), ...(iterator !== undefined && { iterator }) };
      return listOut(await attempts.listDestinations(app, msg, page), (item) => destinationOut(item, expanded));
    },
  );

  api.post(
    '/app/:app/msg/:msg/endpoint/:endpoint/resend',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.message-attempt.resend',
        summary: 'Send a message to an endpoint again, with a full new schedule',
        description: 'If an attempt is under way at this moment, it is left alone. The endpoint must be active.',
        params: MessageEndpointPath,
        response: { 202: Type.Object({}) },
      },
    },
    async ({ params: { app, msg, endpoint } }, reply) => {
      await deliveries.resend(app, msg, endpoint);
      return reply.code(202).send({});
    },
  );
};

/** undefined: nothing can match. */
function readAttemptQuery(query: ListQuery): AttemptQuery | undefined {
  const { status, status_code_class: statusClass, channel, tag } = query;
  if (status !== undefined && status !== 0 && status !== 2) return undefined;
  return {
    ...readTimeQuery(query),
    ...(channel !== undefined && { channel }),
    ...(tag !== undefined && { tag }),
    ...(status !== undefined && { outcome: status === 0 ? 'success' : 'failure' }),
    ...(statusClass !== undefined && { statusClass }),
  };
}
