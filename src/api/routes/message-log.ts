/** Messages of sources and applications as they are stored, for people and their tools; and a way to follow them. */
import type { FastifyRequest } from 'fastify';
import type { Api, RouteGroup } from '../api.ts';
import { ListOf } from '../contract.ts';
import {
  FollowedOut,
  FollowQuery,
  LoggedDetailOut,
  LoggedOut,
  LogListQuery,
  LogPath,
  LogQuery,
} from '../contract-message-log.ts';
import { readTimeQuery } from '../time-query.ts';
import { createWaits } from '../wait-until.ts';
import { loggedDetailOut, loggedOut, wholeMessageOut } from '../whole-message-out.ts';
import { listOut } from '../wire.ts';

const tags = ['Message'];

export const messageLogRoutes: RouteGroup = (api, { resources: { messageLog }, clock }) => {
  const waitUntil = createWaits(clock);
  const whileThere = presence(api);

  api.get(
    '/message',
    {
      schema: {
        tags,
        operationId: 'v1.message-log.list',
        summary: 'List the messages of a source or an application, newest first, without their bodies',
        querystring: LogListQuery,
        response: { 200: ListOf(LoggedOut) },
      },
    },
    async ({ query }) => listOut(await messageLog.list(query, readTimeQuery(query)), loggedOut),
  );

  api.get(
    '/message/follow',
    {
      schema: {
        tags,
        operationId: 'v1.message-log.follow',
        summary: 'The messages of a source or an application as they come, oldest first',
        description:
          'Answers as soon as there is a message that the caller does not know, or after `wait` seconds. Ask again with ' +
          '`after`, the iterator of the answer, and `known`, how many with a higher id were seen: they may come again.',
        querystring: FollowQuery,
        response: { 200: FollowedOut },
      },
    },
    async (request) => {
      const { after, known, wait = 0 } = request.query;
      const from = { ...(after !== undefined && { after }), ...(known !== undefined && { known }) };
      const { data, iterator } = await whileThere(request, (signal) =>
        waitUntil({
          read: () => messageLog.follow(request.query, from),
          isEnough: (found) => after === undefined || found.data.length > 0,
          waitMs: wait * 1000,
          signal,
        }),
      );
      return { data: data.map(wholeMessageOut), iterator };
    },
  );

  api.get(
    '/message/:message',
    {
      schema: {
        tags,
        operationId: 'v1.message-log.get',
        summary: 'Get a message with its exact bytes and headers, its deliveries and their attempts',
        params: LogPath,
        querystring: LogQuery,
        response: { 200: LoggedDetailOut },
      },
    },
    async ({ params, query }) => loggedDetailOut(await messageLog.get(params.message, query)),
  );
};

/** A signal that is aborted when the connection ends or the server begins to stop: neither is held up by who waits. */
function presence(api: Api) {
  const open = new Set<AbortController>();
  let isClosing = false;
  api.addHook('preClose', async () => {
    isClosing = true;
    for (const controller of open) controller.abort();
  });
  return async <T>({ raw: { socket } }: FastifyRequest, run: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const controller = new AbortController();
    const gone = () => controller.abort();
    open.add(controller);
    if (isClosing) controller.abort();
    socket.once('close', gone);
    try {
      return await run(controller.signal);
    } finally {
      // A connection that is kept alive serves many requests, each of which would leave a listener behind.
      socket.off('close', gone);
      open.delete(controller);
    }
  };
}
