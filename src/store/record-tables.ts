/** The records' tables: one each, all of one shape in every database. */
import { HEALTHY } from '../model/index.ts';
import type { InsertInput, RecordKind, RecordTypes, Stored } from './records.ts';
import { type HealthRow, toHealth } from './rows.ts';

export interface RecordTable<K extends RecordKind> {
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

export function tableOf<K extends RecordKind>(kind: K): RecordTable<K> {
  return TABLES[kind] as RecordTable<K>;
}

export interface RecordRow extends Partial<HealthRow> {
  doc: string;
  revision: number;
  fanout_revision?: number;
}

/** A new record's columns by their names. */
export function toColumns<K extends RecordKind>(input: InsertInput<K>): Record<string, string | number | null> {
  const columns: Record<string, string | number | null> = {
    id: input.record.id,
    name: tableOf(input.kind).nameOf(input.record) ?? null,
    revision: 1,
    doc: JSON.stringify(input.record),
  };
  if (isOwner(input.kind)) columns.fanout_revision = 1;
  if (input.kind === 'endpoint') {
    const { status, reason, failureCount } = input.health ?? HEALTHY;
    const parentId = parentOf(input.record) ?? null;
    Object.assign(columns, { parent_id: parentId, status, reason, failure_count: failureCount });
  }
  return columns;
}

export function toStored<K extends RecordKind>(row: RecordRow): Stored<K> {
  return {
    record: JSON.parse(row.doc),
    revision: row.revision,
    health: row.status === undefined ? undefined : toHealth(row as HealthRow),
    fanoutRevision: row.fanout_revision,
  } as Stored<K>;
}

/** Whom messages and endpoints belong to. */
export function isOwner(kind: RecordKind): boolean {
  return kind === 'application' || kind === 'source';
}

/** The owner of an endpoint. */
export function parentOf(record: RecordTypes[RecordKind]): string | undefined {
  return 'url' in record ? record.applicationId : undefined;
}
