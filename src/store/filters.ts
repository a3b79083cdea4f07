/** The port's filters as WHERE clauses, and pages in both directions. */
import type { DeliveryState } from '../model/index.ts';
import type { AttemptFilter, DeliveryFilter, MessageFilter, Page, PageInput } from './queries.ts';
import type { Where } from './where.ts';

export function messageFilter<V>(where: Where<V>, filter: MessageFilter): Where<V> {
  return where
    .andEqual('application_id', filter.applicationId)
    .andIn('event_type', filter.eventTypes)
    .andBetween('created_at', filter.after, filter.before)
    .andMember('channels', filter.channel)
    .andMember('tags', filter.tag);
}

export function deliveryFilter<V>(where: Where<V>, filter: DeliveryFilter): Where<V> {
  where
    .andEqual('message_id', filter.messageId)
    .andEqual('destination_id', filter.destinationId)
    .andEqual('application_id', filter.applicationId)
    .andIn('event_type', filter.eventTypes)
    .andEqual('dead_cause', filter.cause)
    .andEqual('fingerprint', filter.fingerprint)
    .andBetween('created_at', filter.after, filter.before)
    .andBetween('dead_at', filter.diedAfter, filter.diedBefore)
    .andText('last_error', filter.error);
  const [only, ...others] = filter.states ?? [];
  return only !== undefined && others.length === 0 ? where.andState(only) : where.andIn('state', filter.states);
}

/** They have indexes of their own, which are shorter. */
const INDEXED_STATES: readonly (DeliveryState | undefined)[] = ['pending', 'leased', 'held', 'dead'];

/**
 * What is listed by its destination lies in two indexes, of deliveries that never waited and of the others: a list is
 * read from each, and merged. In this order: a delivery goes from the first to the second, never back, so whoever reads the
 * second later misses none.
 */
export function deliveryFilters<V>(anywhere: () => Where<V>, filter: DeliveryFilter): Where<V>[] {
  const { destinationId, messageId, states } = filter;
  const hasOwnIndex = messageId !== undefined || (states?.length === 1 && INDEXED_STATES.includes(states[0]));
  if (destinationId === undefined || hasOwnIndex) return [deliveryFilter(anywhere(), filter)];
  return ['due_at IS NULL', 'due_at IS NOT NULL'].map((half) => deliveryFilter(anywhere(), filter).and(half));
}

export function attemptFilter<V>(where: Where<V>, filter: AttemptFilter): Where<V> {
  where
    .andEqual('message_id', filter.messageId)
    .andEqual('destination_id', filter.destinationId)
    .andEqual('application_id', filter.applicationId)
    .andEqual('delivery_id', filter.deliveryId)
    .andEqual('error', filter.error)
    .andIn('event_type', filter.eventTypes)
    .andBetween('started_at', filter.after, filter.before)
    .andFlag('succeeded', filter.outcome === undefined ? undefined : filter.outcome === 'success');
  if (filter.statusClass !== undefined) where.and('status / 100 = ?', Math.floor(filter.statusClass / 100));
  return where;
}

export interface PageQuery<V> {
  readonly table: string;
  /** All of them without it. */
  readonly columns?: string;
  /** The column that the list is ordered and paged by. */
  readonly key: string;
  readonly where: Where<V>;
  readonly page: PageInput;
}

/** SQL for one page, but for its limit: one row more than asked tells whether it is the last. */
export function selectPage<V>({ table, columns = '*', key, where, page }: PageQuery<V>): string {
  const rising = (page.order === 'ascending') !== isBackward(page);
  if (page.cursor !== undefined) where.and(`${key} ${rising ? '>' : '<'} ?`, page.cursor.key);
  return `SELECT ${columns} FROM ${table} ${where} ORDER BY ${key} ${rising ? 'ASC' : 'DESC'}`;
}

export function toPage<R, T>(rows: readonly R[], page: PageInput, toItem: (row: R) => T): Page<T> {
  const items = rows.slice(0, page.limit).map(toItem);
  if (isBackward(page)) items.reverse();
  return { items, done: rows.length <= page.limit };
}

/** One page of several lists that are ordered by id, from the same page of each. What is in two counts as it is in the later. */
export function mergePages<T extends { readonly id: string }>(pages: readonly Page<T>[], page: PageInput): Page<T> {
  const [only, ...others] = pages;
  if (only !== undefined && others.length === 0) return only;
  const sign = page.order === 'ascending' ? 1 : -1;
  const byId = new Map(pages.flatMap((each) => each.items.map((item) => [item.id, item] as const)));
  const items = [...byId.values()].sort((a, b) => (a.id < b.id ? -sign : sign));
  return {
    items: isBackward(page) ? items.slice(-page.limit) : items.slice(0, page.limit),
    done: items.length <= page.limit && pages.every(({ done }) => done),
  };
}

function isBackward({ cursor }: PageInput): boolean {
  return cursor?.direction === 'backward';
}
