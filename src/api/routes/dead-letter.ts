import type { Static } from 'typebox';
import { invalid } from '../../errors.ts';
import { closest } from '../../policy/index.ts';
import type { DeliverySelection } from '../../resources/index.ts';
import type { RouteGroup } from '../api.ts';
import { ListOf } from '../contract.ts';
import {
  CountOut,
  DeadLetterListQuery,
  DeadLetterOut,
  DeadLetterSelection,
  DeliveryDetailOut,
  DeliveryOut,
  DeliveryPath,
  DiscardAllIn,
  DiscardIn,
} from '../contract-delivery.ts';
import { attemptOut, deliveryDetailOut, deliveryOut } from '../delivery-out.ts';
import { readTime, readTimeQuery } from '../time-query.ts';
import { listOut } from '../wire.ts';
import { reachOf } from './delivery.ts';

const tags = ['Dead Letter'];
const config = { access: 'application' } as const;
type Selection = Static<typeof DeadLetterSelection>;

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
      const { application, endpoint, message, cause } = request.query;
      const listing = await deadLetters.list({
        ...readTimeQuery(request.query),
        ...(await reachOf(request, applications, application)),
        ...(endpoint !== undefined && { endpoint }),
        ...(message !== undefined && { message }),
        ...(cause !== undefined && { cause }),
      });
      return listOut(listing, ({ delivery, lastAttempt }) => ({
        ...deliveryOut(delivery),
        lastAttempt: lastAttempt === undefined ? null : attemptOut(lastAttempt),
      }));
    },
  );

  api.get(
    '/dead-letter/:delivery',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.dead-letter.get',
        summary: 'Get a dead letter with its attempts',
        params: DeliveryPath,
        response: { 200: DeliveryDetailOut },
      },
    },
    async ({ params, token }) => deliveryDetailOut(await deadLetters.get(params.delivery, token.applicationId)),
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
    '/dead-letter/retry',
    {
      config: { ...config, needsBody: true },
      schema: {
        tags,
        operationId: 'v1.dead-letter.retry-all',
        summary: 'Send all dead letters again that match; with {}, all',
        body: DeadLetterSelection,
        response: { 202: CountOut },
      },
    },
    async (request, reply) => {
      const selection = readSelection(request.body, ['body']);
      const reach = await reachOf(request, applications, selection.application);
      return reply.code(202).send({ count: await deadLetters.retryAll({ ...selection, ...reach }) });
    },
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

  api.post(
    '/dead-letter/discard',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.dead-letter.discard-all',
        summary: 'Give all dead letters up that match the filter; with an empty one, all',
        body: DiscardAllIn,
        response: { 200: CountOut },
      },
    },
    async (request) => {
      const { filter, reason } = request.body;
      const selection = readSelection(filter, ['body', 'filter']);
      const reach = await reachOf(request, applications, selection.application);
      return { count: await deadLetters.discardAll({ ...selection, ...reach }, reason) };
    },
  );
};

const FIELDS = Object.keys(DeadLetterSelection.properties);

/** A misspelt field must not pass as none: `{"endpont": …}` would take every dead letter there is. */
function readSelection(selection: Selection, loc: readonly string[]): DeliverySelection {
  for (const name of Object.keys(selection)) {
    if (FIELDS.includes(name)) continue;
    const near = closest(name, FIELDS);
    const hint = near === undefined ? `use ${FIELDS.join(', ')}` : `did you mean "${near}"?`;
    throw invalid([...loc, name], `is not a field to select by; ${hint}`);
  }
  const { before, after, ...rest } = selection;
  return {
    ...rest,
    ...(before !== undefined && { before: readTime(before, [...loc, 'before']) }),
    ...(after !== undefined && { after: readTime(after, [...loc, 'after']) }),
  };
}
