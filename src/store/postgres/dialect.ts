import type { DeliveryState } from '../../model/index.ts';
import { type PageQuery, selectPage, toPage } from '../filters.ts';
import type { Page } from '../queries.ts';
import { type Dialect, Where } from '../where.ts';
import type { Runner, SqlValue } from './driver.ts';

const POSTGRES: Dialect<SqlValue> = {
  place: (n) => `$${n}`,
  isOneOf: (column, values) => ({ clause: `${column} = ANY(?::text[])`, params: [values] }),
  hasMember: (column) => `${column} @> jsonb_build_array(?::text)`,
  hasText: (column) => `strpos(lower(${column}), lower(?)) > 0`,
  flag: (value) => value,
  isIn,
};

/** Being in a state, as its index knows it. */
export function isIn(state: DeliveryState): string {
  return BY_INDEX[state] ?? `state = '${state}'`;
}

const BY_INDEX: Partial<Record<DeliveryState, string>> = {
  pending: 'queued_at IS NOT NULL',
  held: 'is_held',
  dead: 'dead_cause IS NOT NULL',
};

export function anywhere(): Where<SqlValue> {
  return new Where(POSTGRES);
}

/** A limit as SQL: the planner must see it, or it would sort everything for the sake of one page. */
export function limitOf(limit: number): string {
  return `LIMIT ${Math.max(0, Math.trunc(limit))}`;
}

/** PostgreSQL has no NUL in a text; a receiver's answer may. One that did must not keep its batch from being recorded. */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}

export async function page<R, T>(runner: Runner, query: PageQuery<SqlValue>, toItem: (row: R) => T): Promise<Page<T>> {
  const text = `${selectPage(query)} ${limitOf(query.page.limit + 1)}`;
  return toPage(await runner.all<R>({ text }, ...query.where.params), query.page, toItem);
}
