import { invalid } from '../errors.ts';
import type { DeadCause } from '../model/index.ts';
import type { DeliveryFilter, Store } from '../store/index.ts';
import { choiceArgument, filterArgument, objectArgument, timeArgument } from './argument.ts';
import { findApplication } from './lookup.ts';
import { type TimeQuery, timeFilter } from './message-query.ts';
import { missing, missingSource } from './missing.ts';

/** Which deliveries, in the caller's words: ids, or with `application` also the endpoint's uid and the event id. */
export interface DeliverySelection extends Pick<TimeQuery, 'before' | 'after' | 'eventTypes'> {
  readonly application?: string;
  /** Instead of an application. */
  readonly source?: string;
  readonly endpoint?: string;
  readonly message?: string;
  readonly cause?: DeadCause;
  /** What dead letters died of: the error's fingerprint, or text in its line. */
  readonly fingerprint?: string;
  readonly error?: string;
  readonly diedBefore?: number;
  readonly diedAfter?: number;
}

const CAUSES: readonly DeadCause[] = ['exhausted', 'rejected'];

export type DeliveryQuery = DeliverySelection & TimeQuery;

export async function readDeliveryQuery(store: Store, query: DeliverySelection): Promise<DeliveryFilter> {
  const { endpoint, message, cause, fingerprint, error } = objectArgument(query, 'selection');
  const applicationId = await ownerId(store, query);
  return {
    ...timeFilter(query),
    ...(cause !== undefined && { cause: choiceArgument(cause, 'cause', CAUSES) }),
    ...(fingerprint !== undefined && { fingerprint: filterArgument(fingerprint, 'fingerprint') }),
    ...(error !== undefined && { error: filterArgument(error, 'error') }),
    ...diedFilter(query),
    ...(applicationId !== undefined && { applicationId }),
    ...(endpoint !== undefined && { destinationId: await endpointId(store, applicationId, endpoint) }),
    ...(message !== undefined && { messageId: await messageId(store, applicationId, message) }),
  };
}

type Died = Pick<DeliverySelection, 'diedBefore' | 'diedAfter'>;

export function diedFilter({ diedBefore, diedAfter }: Died): Died {
  return {
    ...(diedBefore !== undefined && { diedBefore: timeArgument(diedBefore, 'diedBefore') }),
    ...(diedAfter !== undefined && { diedAfter: timeArgument(diedAfter, 'diedAfter') }),
  };
}

/** Whose deliveries: an application's or a source's, by id or uid. */
export async function ownerId(
  store: Store,
  { application, source }: Pick<DeliverySelection, 'application' | 'source'>,
): Promise<string | undefined> {
  if (application !== undefined && source !== undefined) {
    throw invalid(['source'], 'cannot be given with an application; name one of the two');
  }
  if (application !== undefined) return (await findApplication(store, filterArgument(application, 'application'))).id;
  if (source === undefined) return undefined;
  const stored = await store.get({ kind: 'source', idOrName: filterArgument(source, 'source') });
  if (stored === undefined) throw missingSource(source);
  return stored.record.id;
}

/** An endpoint that is gone still has an id while there are deliveries that were for it. */
async function endpointId(store: Store, parentId: string | undefined, name: string): Promise<string> {
  const idOrName = filterArgument(name, 'endpoint');
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
      ? 'if it is a uid, name its application or its source too: uids are unique within one'
      : `the ${parentId.startsWith('src_') ? 'source' : 'application'} has none of this id or uid, and nothing was ever for one`,
  );
}

async function messageId(store: Store, applicationId: string | undefined, name: string): Promise<string> {
  const id = filterArgument(name, 'message');
  if (applicationId === undefined) return id;
  return (await store.getMessage({ applicationId, id }))?.id ?? id;
}
