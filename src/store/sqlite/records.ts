/** insert, get, list, update, remove: the records that the API manages, one table each, all of one shape. */
import { isOwner, parentOf, type RecordRow, tableOf, toColumns, toStored } from '../record-tables.ts';
import type { GetInput, InsertInput, ListInput, Page, RecordKind, Stored, UpdateInput } from '../store.ts';
import { anywhere, page } from './dialect.ts';
import type { Db } from './driver.ts';
import { changeFanout, fanoutRevision } from './owners.ts';
import { recall, remember } from './remembered.ts';

const CANCEL_LANE = `
  INSERT INTO lanes (destination_id, sweep) VALUES (?, 'cancel')
  ON CONFLICT (destination_id) DO UPDATE SET sweep = 'cancel', due_at = NULL, parked_by = NULL`;
const ENDPOINTS_OF = 'SELECT id FROM endpoints WHERE parent_id = ?';
const TOKENS_OF = "DELETE FROM tokens WHERE doc ->> 'applicationId' = ?";

export function insert<K extends RecordKind>(
  db: Db,
  input: InsertInput<K>,
): 'inserted' | 'conflict' | 'missing' | 'duplicate' {
  const parentId = parentOf(input.record);
  if (parentId !== undefined && fanoutRevision(db, parentId) === undefined) return 'missing';
  if (input.remember && recall(db, { key: input.remember.key, now: input.record.createdAt })) return 'duplicate';
  const columns = toColumns(input);
  const names = Object.keys(columns);
  const written = db.run(
    `INSERT INTO ${tableOf(input.kind).table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
    ...Object.values(columns),
  );
  if (written === 0) return 'conflict';
  if (parentId !== undefined) changeFanout(db, parentId);
  if (input.remember !== undefined) remember(db, input.remember);
  return 'inserted';
}

export function get<K extends RecordKind>(db: Db, input: GetInput<K>): Stored<K> | undefined {
  const { table } = tableOf(input.kind);
  const where = anywhere().and('(id = ? OR name = ?)', input.idOrName, input.idOrName);
  where.andEqual('parent_id', input.parentId);
  const row = db.get<RecordRow>(
    `SELECT * FROM ${table} ${where} ORDER BY id <> ? LIMIT 1`,
    ...where.params,
    input.idOrName,
  );
  return row && toStored<K>(row);
}

export function list<K extends RecordKind>(db: Db, input: ListInput<K>): Page<Stored<K>> {
  const { table, listBy } = tableOf(input.kind);
  const where = anywhere().andEqual('parent_id', input.parentId);
  return page<RecordRow, Stored<K>>(db, { table, key: listBy, where, page: input }, toStored<K>);
}

export function update<K extends RecordKind>(
  db: Db,
  input: UpdateInput<K>,
): 'updated' | 'conflict' | 'stale' | 'missing' {
  const { table, nameOf } = tableOf(input.kind);
  const { id } = input.record;
  const current = db.get<{ revision: number }>(`SELECT revision FROM ${table} WHERE id = ?`, id);
  if (current === undefined) return 'missing';
  if (current.revision !== input.revision) return 'stale';
  const written = db.run(
    `UPDATE OR IGNORE ${table} SET name = ?, doc = ?, revision = revision + 1 WHERE id = ?`,
    nameOf(input.record) ?? null,
    JSON.stringify(input.record),
    id,
  );
  if (written === 0) return 'conflict';
  const owner = isOwner(input.kind) ? id : parentOf(input.record);
  if (owner !== undefined) changeFanout(db, owner);
  return 'updated';
}

export function remove(db: Db, input: { kind: RecordKind; id: string; now: number }): boolean {
  const { table } = tableOf(input.kind);
  const row = db.get<{ doc: string }>(`SELECT doc FROM ${table} WHERE id = ?`, input.id);
  if (row === undefined) return false;
  if (isOwner(input.kind)) {
    for (const endpoint of db.all<{ id: string }>(ENDPOINTS_OF, input.id)) {
      remove(db, { kind: 'endpoint', id: endpoint.id, now: input.now });
    }
    db.run(TOKENS_OF, input.id);
  }
  if (input.kind === 'endpoint') {
    db.run(CANCEL_LANE, input.id);
    changeFanout(db, (JSON.parse(row.doc) as { applicationId: string }).applicationId);
  }
  db.run(`DELETE FROM ${table} WHERE id = ?`, input.id);
  return true;
}
