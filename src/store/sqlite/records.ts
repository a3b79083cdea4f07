/** insert, get, list, update, remove: the records that the API manages, one table each, all of one shape. */
import { HEALTHY } from '../../model/index.ts';
import { type HealthRow, toHealth } from '../rows.ts';
import type { GetInput, InsertInput, ListInput, Page, RecordKind, RecordTypes, Stored, UpdateInput } from '../store.ts';
import type { Db, SqlValue } from './driver.ts';
import { page, Where } from './filters.ts';
import { changeFanout, fanoutRevision, isOwner } from './owners.ts';
import { recall, remember } from './remembered.ts';

interface RecordTable<K extends RecordKind> {
  readonly table: string;
  /** The column that lists are ordered and paged by. */
  readonly listBy: 'id' | 'name';
  readonly nameOf: (record: RecordTypes[K]) => string | undefined;
}

const TABLES: { readonly [K in RecordKind]: RecordTable<K> } = {
  application: { table: 'applications', listBy: 'id', nameOf: (record) => record.uid },
  source: { table: 'sources', listBy: 'id', nameOf: (record) => record.uid },
  endpoint: { table: 'endpoints', listBy: 'id', nameOf: (record) => record.uid },
  eventType: { table: 'event_types', listBy: 'name', nameOf: (record) => record.name },
  policy: { table: 'policies', listBy: 'name', nameOf: (record) => record.name },
  token: { table: 'tokens', listBy: 'id', nameOf: (record) => record.hash },
};

const CANCEL_LANE = `
  INSERT INTO lanes (destination_id, sweep) VALUES (?, 'cancel')
  ON CONFLICT (destination_id) DO UPDATE SET sweep = 'cancel', due_at = NULL, parked_by = NULL`;
const ENDPOINTS_OF = 'SELECT id FROM endpoints WHERE parent_id = ?';
const TOKENS_OF = "DELETE FROM tokens WHERE doc ->> 'applicationId' = ?";

interface RecordRow extends Partial<HealthRow> {
  doc: string;
  revision: number;
  fanout_revision?: number;
}

export function insert<K extends RecordKind>(
  db: Db,
  input: InsertInput<K>,
): 'inserted' | 'conflict' | 'missing' | 'duplicate' {
  const { table, nameOf } = TABLES[input.kind] as RecordTable<K>;
  const columns: Record<string, SqlValue> = {
    id: input.record.id,
    name: nameOf(input.record) ?? null,
    revision: 1,
    doc: JSON.stringify(input.record),
  };
  const parentId = parentOf(input.record);
  if (parentId !== undefined && fanoutRevision(db, parentId) === undefined) return 'missing';
  if (input.remember && recall(db, { key: input.remember.key, now: input.record.createdAt })) return 'duplicate';
  if (isOwner(input.kind)) columns.fanout_revision = 1;
  if (input.kind === 'endpoint') {
    const { status, reason, failureCount } = input.health ?? HEALTHY;
    Object.assign(columns, { parent_id: parentId ?? null, status, reason, failure_count: failureCount });
  }
  const names = Object.keys(columns);
  const written = db.run(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
    ...Object.values(columns),
  );
  if (written === 0) return 'conflict';
  if (parentId !== undefined) changeFanout(db, parentId);
  if (input.remember !== undefined) remember(db, input.remember);
  return 'inserted';
}

export function get<K extends RecordKind>(db: Db, input: GetInput<K>): Stored<K> | undefined {
  const { table } = TABLES[input.kind];
  const where = new Where().and('(id = ? OR name = ?)', input.idOrName, input.idOrName);
  where.andEqual('parent_id', input.parentId);
  const row = db.get<RecordRow>(
    `SELECT * FROM ${table} ${where} ORDER BY id <> ? LIMIT 1`,
    ...where.params,
    input.idOrName,
  );
  return row && toStored<K>(row);
}

export function list<K extends RecordKind>(db: Db, input: ListInput<K>): Page<Stored<K>> {
  const { table, listBy } = TABLES[input.kind];
  const where = new Where().andEqual('parent_id', input.parentId);
  return page<RecordRow, Stored<K>>(db, { select: '*', table, key: listBy, where, page: input }, toStored<K>);
}

export function update<K extends RecordKind>(
  db: Db,
  input: UpdateInput<K>,
): 'updated' | 'conflict' | 'stale' | 'missing' {
  const { table, nameOf } = TABLES[input.kind] as RecordTable<K>;
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
  const { table } = TABLES[input.kind];
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

function parentOf(record: RecordTypes[RecordKind]): string | undefined {
  return 'url' in record ? record.applicationId : undefined;
}

function toStored<K extends RecordKind>(row: RecordRow): Stored<K> {
  return {
    record: JSON.parse(row.doc),
    revision: row.revision,
    health: row.status === undefined ? undefined : toHealth(row as HealthRow),
    fanoutRevision: row.fanout_revision,
  } as Stored<K>;
}
