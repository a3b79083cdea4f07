/** WHERE clauses from filters, and pages in both directions. */
import type { AttemptFilter, DeliveryFilter, MessageFilter, Page, PageInput } from '../store.ts';
import type { Db, SqlValue } from './driver.ts';

export class Where {
  readonly #clauses: string[] = [];
  readonly params: SqlValue[] = [];

  and(clause: string, ...params: SqlValue[]): this {
    this.#clauses.push(clause);
    this.params.push(...params);
    return this;
  }

  andEqual(column: string, value: SqlValue | undefined): this {
    return value === undefined ? this : this.and(`${column} = ?`, value);
  }

  andIn(column: string, values: readonly string[] | undefined): this {
    if (values === undefined) return this;
    return this.and(`${column} IN (${values.map(() => '?').join(', ') || 'NULL'})`, ...values);
  }

  andBetween(column: string, after: number | undefined, before: number | undefined): this {
    if (after !== undefined) this.and(`${column} > ?`, after);
    if (before !== undefined) this.and(`${column} < ?`, before);
    return this;
  }

  toString(): string {
    return this.#clauses.length === 0 ? '' : `WHERE ${this.#clauses.join(' AND ')}`;
  }
}

export function messageFilter(filter: MessageFilter): Where {
  const where = new Where()
    .andEqual('application_id', filter.applicationId)
    .andIn('event_type', filter.eventTypes)
    .andBetween('created_at', filter.after, filter.before);
  if (filter.channel !== undefined) {
    where.and('EXISTS (SELECT 1 FROM json_each(channels) WHERE json_each.value = ?)', filter.channel);
  }
  if (filter.tag !== undefined)
    where.and('EXISTS (SELECT 1 FROM json_each(tags) WHERE json_each.value = ?)', filter.tag);
  return where;
}

export function deliveryFilter(filter: DeliveryFilter): Where {
  const where = new Where()
    .andEqual('message_id', filter.messageId)
    .andEqual('destination_id', filter.destinationId)
    .andEqual('application_id', filter.applicationId)
    .andIn('event_type', filter.eventTypes)
    .andEqual('dead_cause', filter.cause)
    .andEqual('fingerprint', filter.fingerprint)
    .andBetween('created_at', filter.after, filter.before)
    .andBetween('dead_at', filter.diedAfter, filter.diedBefore);
  if (filter.error !== undefined) where.and('instr(lower(last_error), lower(?)) > 0', filter.error);
  // Partial indexes answer only to the literal: one state is written out, never bound.
  const [only, ...others] = filter.states ?? [];
  if (only !== undefined && others.length === 0) return where.and(`state = '${only}'`);
  return where.andIn('state', filter.states);
}

export function attemptFilter(filter: AttemptFilter): Where {
  const where = new Where()
    .andEqual('message_id', filter.messageId)
    .andEqual('destination_id', filter.destinationId)
    .andEqual('application_id', filter.applicationId)
    .andEqual('delivery_id', filter.deliveryId)
    .andEqual('error', filter.error)
    .andIn('event_type', filter.eventTypes)
    .andBetween('started_at', filter.after, filter.before);
  if (filter.outcome !== undefined) where.andEqual('succeeded', filter.outcome === 'success' ? 1 : 0);
  if (filter.statusClass !== undefined) where.and('status / 100 = ?', Math.floor(filter.statusClass / 100));
  return where;
}

/** One page of `table` by its key column, one row more than asked to know whether it is the last. */
export function page<R, T>(
  db: Db,
  query: { select: string; table: string; key: string; where: Where; page: PageInput },
  toItem: (row: R) => T,
): Page<T> {
  const { where, key } = query;
  const backward = query.page.cursor?.direction === 'backward';
  const rising = (query.page.order === 'ascending') !== backward;
  if (query.page.cursor !== undefined) where.and(`${key} ${rising ? '>' : '<'} ?`, query.page.cursor.key);
  const rows = db.all<R>(
    `SELECT ${query.select} FROM ${query.table} ${where} ORDER BY ${key} ${rising ? 'ASC' : 'DESC'} LIMIT ?`,
    ...where.params,
    query.page.limit + 1,
  );
  const items = rows.slice(0, query.page.limit).map(toItem);
  if (backward) items.reverse();
  return { items, done: rows.length <= query.page.limit };
}
