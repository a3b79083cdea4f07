/** WHERE clauses from filters, and pages in both directions. */
import type { AttemptFilter, DeliveryFilter, MessageFilter, Page, PageInput } from '../store.ts';
import type { Runner, SqlValue } from './driver.ts';

export class Where {
  readonly #clauses: string[] = [];
  readonly params: SqlValue[] = [];

  /** Each `?` in the clause is the next of its parameters. */
  and(clause: string, ...params: SqlValue[]): this {
    let next = this.params.length;
    this.#clauses.push(clause.replaceAll('?', () => `$${++next}`));
    this.params.push(...params);
    return this;
  }

  andEqual(column: string, value: SqlValue | undefined): this {
    return value === undefined ? this : this.and(`${column} = ?`, value);
  }

  andIn(column: string, values: readonly string[] | undefined): this {
    return values === undefined ? this : this.and(`${column} = ANY(?::text[])`, values);
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
  if (filter.channel !== undefined) where.and('channels @> jsonb_build_array(?::text)', filter.channel);
  if (filter.tag !== undefined) where.and('tags @> jsonb_build_array(?::text)', filter.tag);
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
  if (filter.error !== undefined) where.and('strpos(lower(last_error), lower(?)) > 0', filter.error);
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
  if (filter.outcome !== undefined) where.andEqual('succeeded', filter.outcome === 'success');
  if (filter.statusClass !== undefined) where.and('status / 100 = ?', Math.floor(filter.statusClass / 100));
  return where;
}

/** A limit as SQL: the planner must see it, or it would sort everything for the sake of one page. */
export function limitOf(limit: number): string {
  return `LIMIT ${Math.max(0, Math.trunc(limit))}`;
}

/** One page of `table` by its key column, one row more than asked to know whether it is the last. */
export async function page<R, T>(
  runner: Runner,
  query: { table: string; key: string; where: Where; page: PageInput },
  toItem: (row: R) => T,
): Promise<Page<T>> {
  const { where, key } = query;
  const { cursor, limit, order } = query.page;
  const backward = cursor?.direction === 'backward';
  const rising = (order === 'ascending') !== backward;
  if (cursor !== undefined) where.and(`${key} ${rising ? '>' : '<'} ?`, cursor.key);
  const text = `SELECT * FROM ${query.table} ${where} ORDER BY ${key} ${rising ? 'ASC' : 'DESC'} ${limitOf(limit + 1)}`;
  const rows = await runner.all<R>({ text }, ...where.params);
  const items = rows.slice(0, limit).map(toItem);
  if (backward) items.reverse();
  return { items, done: rows.length <= limit };
}
