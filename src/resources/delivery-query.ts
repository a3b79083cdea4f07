import type { DeadCause } from '../model/index.ts';
import type { DeliveryFilter, Store } from '../store/index.ts';
import { objectArgument, textArgument } from './argument.ts';
import { findApplication } from './lookup.ts';
import { type TimeQuery, timeFilter } from './message-query.ts';
import { missing } from './missing.ts';

/** Which deliveries, in the caller's words: ids, or with `application` also the endpoint's uid and the event id. */
export interface DeliverySelection extends Pick<TimeQuery, 'before' | 'after' | 'eventTypes'> {
  readonly application?: string;
  readonly endpoint?: string;
  readonly message?: string;
  readonly cause?: DeadCause;
}

export type DeliveryQuery = DeliverySelection & TimeQuery;

export async function readDeliveryQuery(store: Store, query: DeliverySelection): Promise<DeliveryFilter> {
  const { application, endpoint, message, cause } = objectArgument(query, 'selection');
  const applicationId = application === undefined ? undefined : (await findApplication(store, application)).id;
  return {
    ...timeFilter(query),
    ...(cause !== undefined && { cause }),
    ...(applicationId !== undefined && { applicationId }),
    ...(endpoint !== undefined && { destinationId: await endpointId(store, applicationId, endpoint) }),
    ...(message !== undefined && { messageId: await messageId(store, applicationId, message) }),
  };
}

/** An endpoint that is gone still has an id while there are deliveries that were for it. */
async function endpointId(store: Store, parentId: string | undefined, name: string): Promise<string> {
  const idOrName = textArgument(name, 'endpoint');
  const stored = await store.get({ kind: 'endpoint', idOrName, ...(parentId !== undefined && { parentId }) });
  // Without the application a uid may be that of several endpoints, and the store would pick one.
  if (stored !== undefined && (parentId !== undefined || stored.record.id === idOrName)) return stored.record.id;
  const inApplication = parentId === undefined ? {} : { applicationId: parentId };
  const sent = await store.listDeliveries({ destinationId: name, ...inApplication, limit: 1, order: 'descending' });
  if (sent.items.length > 0) return name;
  throw missing(
    'endpoint',
    name,
    parentId === undefined
      ? 'if it is a uid, name the application too: uids are unique within it'
      : 'the application has none of this id or uid, and nothing was ever for one',
  );
}

async function messageId(store: Store, applicationId: string | undefined, name: string): Promise<string> {
  const id = textArgument(name, 'message');
  if (applicationId === undefined) return id;
  return (await store.getMessage({ applicationId, id }))?.id ?? id;
}
