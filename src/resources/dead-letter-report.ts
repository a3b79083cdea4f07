/** The report of dead-letter patterns: by source or application, event type and error, the largest first. */
import type { Store } from '../store/index.ts';
import { objectArgument } from './argument.ts';
import { type GroupQuery, type GroupView, listGroups } from './dead-letter-group.ts';
import { diedFilter } from './delivery-query.ts';
import { MAX_LIMIT } from './paging.ts';

export type ReportQuery = Pick<GroupQuery, 'application' | 'source' | 'diedAfter' | 'diedBefore'>;

export interface ReportedGroup extends GroupView {
  readonly owner: { readonly kind: 'application' | 'source'; readonly id: string; readonly name: string };
}

export interface DeadLetterReport {
  /** The time that it covers, by time of death. */
  readonly from: number;
  readonly to: number;
  /** Of all groups, listed here or not. */
  readonly total: number;
  readonly groupCount: number;
  /** A count stopped at its bound, so that the total is at least what it says. */
  readonly isCapped: boolean;
  readonly groups: readonly ReportedGroup[];
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const MOST_COUNTED = 100_000;
/** More than a person reads; the rest is in the totals. */
const MOST_GROUPS = 500;

/** Of the last seven days without a time range. */
export async function makeReport(store: Store, now: number, query: ReportQuery): Promise<DeadLetterReport> {
  const died = diedFilter(objectArgument(query, 'query'));
  const { diedBefore: to = now + 1, diedAfter: from = to - WEEK_MS } = died;
  let groups: GroupView[] = [];
  let total = 0;
  let groupCount = 0;
  let isCapped = false;
  let iterator: string | null = null;
  do {
    const page = { limit: MAX_LIMIT, ...(iterator !== null && { iterator }) };
    const found = await listGroups(store, { ...query, diedAfter: from, diedBefore: to, ...page }, MOST_COUNTED);
    groupCount += found.data.length;
    for (const group of found.data) {
      total += group.count;
      isCapped ||= group.countIsCapped;
    }
    groups = [...groups, ...found.data].sort(byCount).slice(0, MOST_GROUPS);
    iterator = found.iterator;
  } while (iterator !== null);
  const owners = new Map<string, Promise<ReportedGroup['owner']>>();
  const owned = groups.map(async (group) => {
    const id = group.applicationId;
    const owner = owners.get(id) ?? ownerOf(store, id);
    owners.set(id, owner);
    return { ...group, owner: await owner };
  });
  return { from, to, total, groupCount, isCapped, groups: await Promise.all(owned) };
}

function byCount(a: GroupView, b: GroupView): number {
  return b.count - a.count || b.lastAt - a.lastAt;
}

/** One that is deleted is known by its id alone. */
async function ownerOf(store: Store, id: string): Promise<ReportedGroup['owner']> {
  const kind = id.startsWith('src_') ? 'source' : 'application';
  const record = (await store.get({ kind, idOrName: id }))?.record;
  return { kind, id, name: record?.uid ?? record?.name ?? id };
}
