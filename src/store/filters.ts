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

const WAITING_STATES: readonly DeliveryState[] = ['pending', 'held'];

/**
 * What is listed by its destination lies in two indexes, of deliveries that never waited and of the others: a list is
 * read from each, and merged.
 */
export function deliveryFilters<V>(anywhere: () => Where<V>, filter: DeliveryFilter): Where<V>[] {
  if (filter.destinationId === undefined || filter.messageId !== undefined) return [deliveryFilter(anywhere(), filter)];
  const waited = deliveryFilter(anywhere(), filter).and('due_at IS NOT NULL');
  if (filter.states?.every((state) => WAITING_STATES.includes(state))) return [waited];
  return [deliveryFilter(anywhere(), filter).and('due_at IS NULL'), waited];
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
  /** The column that the list is ordered and paged by. */
  readonly key: string;
  readonly where: Where<V>;
  readonly page: PageInput;
}

/** SQL for one page, but for its limit: one row more than asked tells whether it is the last. */
export function selectPage<V>({ table, key, where, page }: PageQuery<V>): string {
  const rising = (page.order === 'ascending') !== isBackward(page);
  if (page.cursor !== undefined) where.and(`${key} ${rising ? '>' : '<'} ?`, page.cursor.key);
  return `SELECT * FROM ${table} ${where} ORDER BY ${key} ${rising ? 'ASC' : 'DESC'}`;
}

export function toPage<R, T>(rows: readonly R[], page: PageInput, toItem: (row: R) => T): Page<T> {
  const items = rows.slice(0, page.limit).map(toItem);
  if (isBackward(page)) items.reverse();
  return { items, done: rows.length <= page.limit };
}

/** One page of several lists that are ordered by id and have nothing in common, from the same page of each. */
export function mergePages<T extends { readonly id: string }>(pages: readonly Page<T>[], page: PageInput): Page<T> {
  const [only, ...others] = pages;
  if (only !== undefined && others.length === 0) return only;
  const sign = page.order === 'ascending' ? 1 : -1;
  const items = pages.flatMap((each) => each.items).sort((a, b) => (a.id < b.id ? -sign : sign));
  return {
    items: isBackward(page) ? items.slice(-page.limit) : items.slice(0, page.limit),
    done: items.length <= page.limit && pages.every(({ done }) => done),
  };
}

function isBackward({ cursor }: PageInput): boolean {
  return cursor?.direction === 'backward';
}
