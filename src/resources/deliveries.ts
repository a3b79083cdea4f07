/** Deliveries: what became of each message at each endpoint, with every attempt and decision; and sending again. */
import { PosthornError } from '../errors.ts';
import type { Attempt, Delivery, DeliveryState } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import { namesArgument, textArgument } from './argument.ts';
import type { Context } from './context.ts';
import { type DeliveryQuery, readDeliveryQuery } from './delivery-query.ts';
import { findApplication, findEndpoint, findMessage } from './lookup.ts';
import { missing } from './missing.ts';
import { type Listing, listing, pageInput } from './paging.ts';

export interface DeliveryDetail {
  readonly delivery: Delivery;
  /** Oldest first, each with its decision and the reason for it. */
  readonly attempts: readonly Attempt[];
}

export interface Deliveries {
  list(query?: DeliveryQuery & { readonly states?: readonly DeliveryState[] }): Promise<Listing<Delivery>>;
  /** With `application`, a delivery of another one is not found. */
  get(id: string, application?: string): Promise<DeliveryDetail>;
  /**
   * Sends a message to an endpoint (again) with a full new schedule, whatever became of it before and whether or not
   * the endpoint's filters match. `sending`: an attempt is under way at this moment, and nothing was changed.
   */
  resend(application: string, message: string, endpoint: string): Promise<'queued' | 'sending'>;
}

/** Every state but `leased`: what a sender holds is being sent already. */
const RESENDABLE: readonly DeliveryState[] = ['pending', 'held', 'delivered', 'dead', 'cancelled'];
const ATTEMPTS_PER_READ = 250;

export function createDeliveries(context: Context): Deliveries {
  const { store, engine, clock, ids } = context;

  return {
    async list(query = {}) {
      const filter = await readDeliveryQuery(store, query);
      const states = query.states === undefined ? {} : { states: namesArgument(query.states, 'states') };
      const page = pageInput(query, { prefix: 'dlv', order: 'descending' });
      const found = await store.listDeliveries({ ...filter, ...states, ...page });
      return listing(
        found,
        ({ id }) => id,
        (delivery) => delivery,
      );
    },

    async get(id, application) {
      const delivery = await store.getDelivery({ id: textArgument(id, 'id') });
      if (delivery === undefined) throw missing('delivery', id);
      if (application !== undefined && (await findApplication(store, application)).id !== delivery.applicationId) {
        throw missing('delivery', id);
      }
      return { delivery, attempts: await attemptsOf(store, delivery) };
    },

    async resend(application, messageName, endpointName) {
      const { id: applicationId } = await findApplication(store, application);
      const { id: messageId } = await findMessage(store, applicationId, messageName);
      const { record, health } = await findEndpoint(store, applicationId, endpointName);
      if (health.status !== 'active') throw notActive(health);
      const to = { applicationId, messageId, destinationId: record.id };
      const now = clock.now();
      const added = await store.addDelivery({ now, id: ids.next('dlv'), ...to });
      if (added === 'missing') throw missing('message', messageName);
      if (added === 'exists') {
        const { ids: taken } = await store.redeliver({ now, select: { filter: to, limit: 1 }, from: RESENDABLE });
        if (taken.length === 0) return 'sending';
      }
      engine.wake();
      return 'queued';
    },
  };
}

function notActive({ status, reason }: { status: string; reason: string }): PosthornError {
  const why = reason === '' ? '' : ` (${reason})`;
  return new PosthornError(
    'endpoint_not_active',
    `The endpoint is ${status}${why} and nothing is sent to it; resume it first (POST …/endpoint/{id}/resume), then send again`,
  );
}

/** All of them, oldest first. */
export async function attemptsOf(store: Store, { id: deliveryId, messageId }: Delivery): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  let key: string | undefined;
  for (;;) {
    const page = await store.listAttempts({
      messageId,
      deliveryId,
      limit: ATTEMPTS_PER_READ,
      order: 'ascending',
      ...(key !== undefined && { cursor: { key, direction: 'forward' } }),
    });
    attempts.push(...page.items);
    key = page.items.at(-1)?.id;
    if (page.done || key === undefined) return attempts;
  }
}
