import type { RouteGroup } from '../api.ts';
import { ListOf } from '../contract.ts';
import {
  DeadLetterDetailOut,
  DeadLetterListQuery,
  DeadLetterOut,
  DiscardIn,
  GroupListQuery,
  GroupOut,
  ReportOut,
  ReportQuery,
} from '../contract-dead-letter.ts';
import { DeliveryOut, DeliveryPath } from '../contract-delivery.ts';
import { deadLetterDetailOut, groupOut, reportOut } from '../dead-letter-out.ts';
import { readDied, readFilter } from '../dead-letter-query.ts';
import { attemptOut, deliveryOut } from '../delivery-out.ts';
import { listOut } from '../wire.ts';
import { reachOf } from './delivery.ts';

const tags = ['Dead Letter'];
const config = { access: 'application' } as const;

export const deadLetterRoutes: RouteGroup = (api, { resources: { deadLetters, applications } }) => {
  api.get(
    '/dead-letter',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.dead-letter.list',
        summary: 'List dead letters with the last attempt of each, newest first',
        querystring: DeadLetterListQuery,
        response: { 200: ListOf(DeadLetterOut) },
      },
    },
    async (request) => {
      const { application, limit, iterator } = request.query;
      const listing = await deadLetters.list({
        ...readFilter(request.query),
        ...(limit !== undefined && { limit }),
        ...(iterator !== undefined && { iterator }),
        ...(await reachOf(request, applications, application)),
      });
      return listOut(listing, ({ delivery, lastAttempt }) => ({
        ...deliveryOut(delivery),
        lastAttempt: lastAttempt === undefined ? null : attemptOut(lastAttempt),
      }));
    },
  );

  api.get(
    '/dead-letter/group',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.dead-letter.list-groups',
        summary: 'List groups of dead letters that failed alike: same owner, event type and error',
        description: 'In the order of their ids. A page may be short, or empty, before the list is done.',
        querystring: GroupListQuery,
        response: { 200: ListOf(GroupOut) },
      },
    },
    async (request) => {
      const { application, source, limit, iterator } = request.query;
      const listing = await deadLetters.groups({
        ...readDied(request.query),
        ...(source !== undefined && { source }),
        ...(limit !== undefined && { limit }),
        ...(iterator !== undefined && { iterator }),
        ...(await reachOf(request, applications, application)),
      });
      return listOut(listing, groupOut);
    },
  );

  api.get(
    '/dead-letter/report',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.dead-letter.report',
        summary: 'What died in a time, grouped, the largest group first; in the last seven days without one',
        querystring: ReportQuery,
        response: { 200: ReportOut },
      },
    },
    async (request) => {
      const { application, source } = request.query;
      const report = await deadLetters.report({
        ...readDied(request.query),
        ...(source !== undefined && { source }),
        ...(await reachOf(request, applications, application)),
      });
      return reportOut(report);
    },
  );

  api.get(
    '/dead-letter/:delivery',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.dead-letter.get',
        summary: 'Get a dead letter with its message and every attempt',
        params: DeliveryPath,
        response: { 200: DeadLetterDetailOut },
      },
    },
    async ({ params, token }) => deadLetterDetailOut(await deadLetters.get(params.delivery, token.applicationId)),
  );

  api.post(
    '/dead-letter/:delivery/retry',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.dead-letter.retry',
        summary: 'Send a dead letter again, with a full new schedule',
        description: 'It leaves the dead letters at once; while its endpoint is stopped it is held.',
        params: DeliveryPath,
        response: { 202: DeliveryOut },
      },
    },
    async ({ params, token }, reply) =>
      reply.code(202).send(deliveryOut(await deadLetters.retry(params.delivery, token.applicationId))),
  );

  api.post(
    '/dead-letter/:delivery/discard',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.dead-letter.discard',
        summary: 'Give a dead letter up; the reason is kept',
        params: DeliveryPath,
        body: DiscardIn,
        response: { 200: DeliveryOut },
      },
    },
    async ({ params, body, token }) =>
      deliveryOut(await deadLetters.discard(params.delivery, body.reason, token.applicationId)),
  );
};
