import type { DeadCause } from '../model/index.ts';
import type { DeliveryFilter, Store } from '../store/index.ts';
import { findApplication } from './lookup.ts';
import { type TimeQuery, timeFilter } from './message-query.ts';

/** Which deliveries, in the caller's words: ids, or with `application` also the endpoint's uid and the event id. */
export interface DeliverySelection extends Pick<TimeQuery, 'before' | 'after' | 'eventTypes'> {
  readonly application?: string;
  readonly endpoint?: string;
  readonly message?: string;
  readonly cause?: DeadCause;
}

export type DeliveryQuery = DeliverySelection & TimeQuery;

/** A name that is found nowhere is kept as an id: what was sent to a deleted endpoint can still be asked for. */
export async function readDeliveryQuery(store: Store, query: DeliverySelection): Promise<DeliveryFilter> {
  const { application, endpoint, message, cause } = query;
  const applicationId = application === undefined ? undefined : (await findApplication(store, application)).id;
  return {
    ...timeFilter(query),
    ...(cause !== undefined && { cause }),
    ...(applicationId !== undefined && { applicationId }),
    ...(endpoint !== undefined && { destinationId: await endpointId(store, applicationId, endpoint) }),
    ...(message !== undefined && { messageId: await messageId(store, applicationId, message) }),
  };
}

async function endpointId(store: Store, parentId: string | undefined, name: string): Promise<string> {
  if (parentId === undefined) return name;
  return (await store.get({ kind: 'endpoint', idOrName: name, parentId }))?.record.id ?? name;
}

async function messageId(store: Store, applicationId: string | undefined, name: string): Promise<string> {
  if (applicationId === undefined) return name;
  return (await store.getMessage({ applicationId, id: name }))?.id ?? name;
}
