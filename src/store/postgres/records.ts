/** insert, get, list, update, remove: the records that the API manages, one table each, all of one shape. */
import { isOwner, parentOf, type RecordRow, tableOf, toColumns, toStored } from '../record-tables.ts';
import type { GetInput, InsertInput, ListInput, Page, RecordKind, Stored, UpdateInput } from '../store.ts';
import { anywhere, page } from './dialect.ts';
import { type Db, type SqlValue, statement, type Tx } from './driver.ts';
import { leavesEmpty, sqlState } from './explain.ts';
import { exclude } from './locks.ts';
import { tell } from './news.ts';
import { remember } from './remembered.ts';
import { CHANGE_FANOUT, changeFanout } from './set-status.ts';

const UNIQUE_VIOLATION = '23505';
const OWNER_EXISTS = statement(
  'owner_exists',
  'SELECT 1 FROM applications WHERE id = $1 UNION ALL SELECT 1 FROM sources WHERE id = $1',
);
const LOCK_ENDPOINTS = statement(
  'remove_lock_endpoints',
  'SELECT id FROM endpoints WHERE parent_id = $1 ORDER BY id FOR UPDATE',
);
const CANCEL_LANES = `
  INSERT INTO lanes (destination_id, sweep) SELECT id, 'cancel' FROM endpoints WHERE ? = $1 ORDER BY id
  ON CONFLICT (destination_id) DO UPDATE SET sweep = 'cancel', due_at = NULL, parked_by = NULL`;
const CANCEL_LANE = statement('cancel_lane', CANCEL_LANES.replace('?', 'id'));
const CANCEL_LANES_OF = statement('cancel_lanes_of', CANCEL_LANES.replace('?', 'parent_id'));
const REMOVE_ENDPOINTS = statement('remove_endpoints', 'DELETE FROM endpoints WHERE parent_id = $1');
const REMOVE_TOKENS = statement('remove_tokens', 'DELETE FROM tokens WHERE owner_id = $1');

export async function insert<K extends RecordKind>(
  db: Db,
  input: InsertInput<K>,
): Promise<'inserted' | 'conflict' | 'missing' | 'duplicate'> {
  const parentId = parentOf(input.record);
  const lock = parentId === undefined ? '' : exclude(db, { kind: 'application', id: parentId });
  try {
    return await db.transaction(async (tx) => {
      if (parentId !== undefined && (await tx.all(OWNER_EXISTS, parentId)).length === 0) return 'missing';
      // First, so that a key that was used already is told as such, whatever else it would run into.
      if (input.remember !== undefined) await remember(tx, input.remember, input.record.createdAt);
      const columns: Record<string, SqlValue> = toColumns(input);
      if ('hash' in input.record) columns.owner_id = input.record.applicationId ?? null;
      const names = Object.keys(columns);
      const places = names.map((_, index) => `$${index + 1}`);
      await tx.run(
        { text: `INSERT INTO ${tableOf(input.kind).table} (${names.join(', ')}) VALUES (${places.join(', ')})` },
        ...Object.values(columns),
      );
      await Promise.all([
        parentId === undefined ? 0 : tx.run(CHANGE_FANOUT, [parentId]),
        tellOf(db, tx, input.kind, parentId),
        tx.commit(),
      ]);
      return 'inserted';
    }, lock);
  } catch (error) {
    if (leavesEmpty(error, 'remembered', 'expires_at')) return 'duplicate';
    if (sqlState(error) === UNIQUE_VIOLATION) return 'conflict';
    throw error;
  }
}

export async function get<K extends RecordKind>(db: Db, input: GetInput<K>): Promise<Stored<K> | undefined> {
  const { table } = tableOf(input.kind);
  const limited = input.parentId === undefined ? '' : 'AND parent_id = $2';
  const [row] = await db.all<RecordRow>(
    statement(
      `get_${table}${limited && '_of'}`,
      `SELECT * FROM ${table} WHERE (id = $1 OR name = $1) ${limited} ORDER BY id <> $1 LIMIT 1`,
    ),
    input.idOrName,
    ...(input.parentId === undefined ? [] : [input.parentId]),
  );
  return row && toStored<K>(row);
}

export function list<K extends RecordKind>(db: Db, input: ListInput<K>): Promise<Page<Stored<K>>> {
  const { table, listBy } = tableOf(input.kind);
  const where = anywhere().andEqual('parent_id', input.parentId);
  return page<RecordRow, Stored<K>>(db, { table, key: listBy, where, page: input }, toStored<K>);
}

export async function update<K extends RecordKind>(
  db: Db,
  input: UpdateInput<K>,
): Promise<'updated' | 'conflict' | 'stale' | 'missing'> {
  const { table, nameOf } = tableOf(input.kind);
  const { id } = input.record;
  const owner = isOwner(input.kind) ? id : parentOf(input.record);
  try {
    return await db.transaction(async (tx) => {
      const [current] = await tx.all<{ revision: number }>(
        { text: `SELECT revision FROM ${table} WHERE id = $1 FOR UPDATE` },
        id,
      );
      if (current === undefined) return 'missing';
      if (current.revision !== input.revision) return 'stale';
      await Promise.all([
        tx.run(
          { text: `UPDATE ${table} SET name = $1, doc = $2, revision = revision + 1 WHERE id = $3` },
          nameOf(input.record) ?? null,
          JSON.stringify(input.record),
          id,
        ),
        ...(owner === undefined ? [] : changeFanout(db, tx, [owner])),
        tellOf(db, tx, input.kind, owner),
        tx.commit(),
      ]);
      return 'updated';
    });
  } catch (error) {
    if (sqlState(error) === UNIQUE_VIOLATION) return 'conflict';
    throw error;
  }
}

export async function remove(db: Db, input: { kind: RecordKind; id: string; now: number }): Promise<boolean> {
  const { table } = tableOf(input.kind);
  return db.transaction(async (tx) => {
    if (isOwner(input.kind)) await tx.all(LOCK_ENDPOINTS, input.id);
    const [row] = await tx.all<{ parent_id?: string }>(
      { text: `SELECT * FROM ${table} WHERE id = $1 FOR UPDATE` },
      input.id,
    );
    if (row === undefined) return false;
    const owner = isOwner(input.kind) ? input.id : row.parent_id;
    await Promise.all([
      ...(owner === undefined ? [] : changeFanout(db, tx, [owner])),
      ...(isOwner(input.kind)
        ? [tx.run(CANCEL_LANES_OF, input.id), tx.run(REMOVE_ENDPOINTS, input.id), tx.run(REMOVE_TOKENS, input.id)]
        : []),
      input.kind === 'endpoint' ? tx.run(CANCEL_LANE, input.id) : 0,
      tx.run({ text: `DELETE FROM ${table} WHERE id = $1` }, input.id),
      tellOf(db, tx, input.kind, owner),
      tx.commit(),
    ]);
    return true;
  });
}

/** What other nodes keep in memory of these: an application's endpoints, and the policies of all. */
async function tellOf(db: Db, tx: Tx, kind: RecordKind, owner: string | undefined): Promise<void> {
  if (owner !== undefined) await tell(db, tx, { changed: [owner] });
  else if (kind === 'policy') await tell(db, tx, { changed: 'all' });
}
