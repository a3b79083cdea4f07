/** The port's filters as WHERE clauses, and pages in both directions. */
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

function isBackward({ cursor }: PageInput): boolean {
  return cursor?.direction === 'backward';
}
