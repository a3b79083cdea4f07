/** Groups of dead letters that failed alike: same owner, event type and error fingerprint. */
import { invalid } from '../errors.ts';
import type { DeadLetterGroup, GroupKey, Store } from '../store/index.ts';
import { objectArgument, textArgument } from './argument.ts';
import { type DeliverySelection, diedFilter, ownerId } from './delivery-query.ts';
import { DEFAULT_LIMIT, type Listing, MAX_LIMIT, type PageRequest } from './paging.ts';

export interface GroupQuery
  extends Pick<DeliverySelection, 'application' | 'source' | 'diedAfter' | 'diedBefore'>,
    Pick<PageRequest, 'limit' | 'iterator'> {}

export interface GroupView extends DeadLetterGroup {
  /** `owner/event.type/fingerprint`: what a group is called when it is shown, retried or discarded. */
  readonly id: string;
  /** Whether there are more than were counted. */
  readonly countIsCapped: boolean;
}

/** Counting a group stops here: enough to see trouble, and cheap however much there is. */
const MOST_COUNTED = 10_000;

/** In the order of the ids. A page with a time range may have fewer than `limit`, or none, before the list is done. */
export async function listGroups(store: Store, query: GroupQuery, most = MOST_COUNTED): Promise<Listing<GroupView>> {
  const { limit = DEFAULT_LIMIT, iterator } = objectArgument(query, 'query');
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw invalid(['query', 'limit'], `must be from 1 to ${MAX_LIMIT}`);
  }
  const applicationId = await ownerId(store, query);
  const page = await store.listGroups({
    limit,
    // One more, to know whether the bound was reached or passed.
    most: most + 1,
    ...(applicationId !== undefined && { applicationId }),
    ...diedFilter(query),
    ...(iterator !== undefined && iterator !== '' && { after: parseGroupId(iterator, ['query', 'iterator']) }),
  });
  const data = page.groups.map((group) => ({
    ...group,
    id: groupId(group),
    count: Math.min(group.count, most),
    countIsCapped: group.count > most,
  }));
  return { data, iterator: page.next === undefined ? null : groupId(page.next), done: page.next === undefined };
}

function groupId({ applicationId, eventType, fingerprint }: GroupKey): string {
  return `${applicationId}/${eventType}/${fingerprint}`;
}

/** An event type that came from outside may have slashes of its own; the parts around it have none. */
export function parseGroupId(text: string, loc: readonly string[]): GroupKey {
  const [, applicationId, eventType, fingerprint] = /^([^/]+)\/(.+)\/([^/]+)$/s.exec(textArgument(text, 'group')) ?? [];
  if (applicationId === undefined || eventType === undefined || fingerprint === undefined) {
    throw invalid(loc, 'must be the id of a group: owner/event.type/fingerprint, as the list of groups has it');
  }
  return { applicationId, eventType, fingerprint };
}
