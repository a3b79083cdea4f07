import { type PageQuery, selectPage, toPage } from '../filters.ts';
import type { Page } from '../queries.ts';
import { type Dialect, Where } from '../where.ts';
import type { Db, SqlValue } from './driver.ts';

/** Leased after it waited. The epoch is what the index goes by. */
export const IS_CLAIMED = "lease_epoch > 0 AND state = 'leased' AND due_at IS NOT NULL";
/** Leased as it was accepted: in no index by its lease, but no node has any of it from before the first one's mark. */
export const IS_HANDED = "id >= (SELECT min(handed_from) FROM nodes) AND state = 'leased' AND due_at IS NULL";
const IS_LEASED = `id IN (
  SELECT id FROM deliveries WHERE ${IS_CLAIMED} UNION ALL SELECT id FROM deliveries WHERE ${IS_HANDED})`;

const SQLITE: Dialect<SqlValue> = {
  place: () => '?',
  isOneOf: (column, values) => ({
    clause: `${column} IN (${values.map(() => '?').join(', ') || 'NULL'})`,
    params: values,
  }),
  hasMember: (column) => `EXISTS (SELECT 1 FROM json_each(${column}) WHERE json_each.value = ?)`,
  hasText: (column) => `instr(lower(${column}), lower(?)) > 0`,
  flag: storable,
  isIn: (state) => (state === 'leased' ? IS_LEASED : `state = '${state}'`),
};

export function anywhere(): Where<SqlValue> {
  return new Where(SQLITE);
}

export function page<R, T>(db: Db, query: PageQuery<SqlValue>, toItem: (row: R) => T): Page<T> {
  // Bound, not written out: statements are kept by their text.
  const text = `${selectPage(query)} LIMIT ?`;
  return toPage(db.all<R>(text, ...query.where.params, query.page.limit + 1), query.page, toItem);
}

/** SQLite has no booleans. */
export function storable<T>(value: T): Exclude<T, boolean> | number {
  return typeof value === 'boolean' ? Number(value) : (value as Exclude<T, boolean>);
}
