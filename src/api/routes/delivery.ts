import type { FastifyRequest } from 'fastify';
import { invalid, PosthornError } from '../../errors.ts';
import { DELIVERY_STATES, type DeliveryState } from '../../model/index.ts';
import type { Applications } from '../../resources/index.ts';
import type { RouteGroup } from '../api.ts';
import { ListOf } from '../contract.ts';
import { DeliveryDetailOut, DeliveryListQuery, DeliveryOut, DeliveryPath } from '../contract-delivery.ts';
import { deliveryDetailOut, deliveryOut } from '../delivery-out.ts';
import { readTimeQuery, words } from '../time-query.ts';
import { listOut } from '../wire.ts';

const tags = ['Delivery'];
const config = { access: 'application' } as const;

export const deliveryRoutes: RouteGroup = (api, { resources: { deliveries, applications } }) => {
  api.get(
    '/delivery',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.delivery.list',
        summary: 'List deliveries of all applications that the token reaches, newest first',
        querystring: DeliveryListQuery,
        response: { 200: ListOf(DeliveryOut) },
      },
    },
    async (request) => {
      const { endpoint, message, state } = request.query;
      const listing = await deliveries.list({
        ...readTimeQuery(request.query),
        ...(await reachOf(request, applications, request.query.application)),
        ...(endpoint !== undefined && { endpoint }),
        ...(message !== undefined && { message }),
        ...(state !== undefined && { states: readStates(state) }),
      });
      return listOut(listing, deliveryOut);
    },
  );

  api.get(
    '/delivery/:delivery',
    {
      config,
      schema: {
        tags,
        operationId: 'v1.delivery.get',
        summary: 'Get a delivery with its attempts, and what was decided after each and why',
        params: DeliveryPath,
        response: { 200: DeliveryDetailOut },
      },
    },
    async ({ params, token }) => deliveryDetailOut(await deliveries.get(params.delivery, token.applicationId)),
  );
};

/** What the token reaches, of what was asked for: another's application is as unknown as none. */
export async function reachOf(
  { token }: FastifyRequest,
  applications: Applications,
  asked: string | undefined,
): Promise<{ application?: string }> {
  const { applicationId } = token;
  if (applicationId === undefined) return asked === undefined ? {} : { application: asked };
  if (asked !== undefined && asked !== applicationId && (await applications.get(asked)).id !== applicationId) {
    throw new PosthornError('not_found', `There is no application ${JSON.stringify(asked.slice(0, 80))}`);
  }
  return { application: applicationId };
}

function readStates(texts: readonly string[]): readonly DeliveryState[] {
  return words(texts).map((word) => {
    const state = DELIVERY_STATES.find((known) => known === word);
    if (state === undefined) throw invalid(['query', 'state'], `must be one of ${DELIVERY_STATES.join(', ')}`);
    return state;
  });
}
