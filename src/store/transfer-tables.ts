/**
 * What is moved from one store to another: tables, their columns and the key that both sides read them by. Adapters know
 * the same names. Nodes are not moved: whoever worked on the old store is gone. Lanes are rebuilt, but for what a status
 * change left to do.
 */

/** document: a text of any length. list: JSON that an adapter may keep in another spelling. */
type ColumnKind = 'text' | 'document' | 'integer' | 'boolean' | 'bytes' | 'list';

export interface TransferColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

export interface TransferTable {
  readonly name: string;
  /** Unique, and never empty. Both sides sort it by its bytes. */
  readonly key: readonly string[];
  readonly columns: readonly TransferColumn[];
}

const text = of('text');
const document = of('document');
const integer = of('integer');
const boolean = of('boolean');
const bytes = of('bytes');
const list = of('list');

const OWNER = [...text('id', 'name'), ...integer('revision', 'fanout_revision'), ...document('doc')];
const NAMED = [...text('id', 'name'), ...integer('revision'), ...document('doc')];

export const TRANSFER_TABLES: readonly TransferTable[] = [
  { name: 'applications', key: ['id'], columns: OWNER },
  { name: 'sources', key: ['id'], columns: OWNER },
  {
    name: 'endpoints',
    key: ['id'],
    columns: [
      ...text('id', 'parent_id', 'name', 'status', 'reason'),
      ...integer('revision', 'failure_count', 'last_success_at', 'last_failure_at'),
      ...document('doc'),
    ],
  },
  { name: 'event_types', key: ['id'], columns: NAMED },
  { name: 'policies', key: ['id'], columns: NAMED },
  { name: 'tokens', key: ['id'], columns: [...NAMED, ...text('owner_id')] },
  {
    name: 'messages',
    key: ['application_id', 'id'],
    columns: [
      ...text('application_id', 'id', 'event_id', 'event_type', 'content_type'),
      ...list('channels', 'tags'),
      ...bytes('payload'),
      ...integer('created_at', 'conflicts'),
      ...document('headers'),
    ],
  },
  {
    name: 'event_ids',
    key: ['application_id', 'event_id'],
    columns: text('application_id', 'event_id', 'message_id'),
  },
  {
    name: 'deliveries',
    key: ['id'],
    columns: [
      ...text('id', 'message_id', 'application_id', 'destination_id', 'event_type', 'state', 'trigger_kind'),
      ...integer('attempts', 'schedule_attempts', 'max_attempts', 'first_attempt_at', 'due_at'),
      ...integer('created_at', 'updated_at', 'dead_at', 'success_status', 'success_ms'),
      ...text('reason', 'dead_cause', 'fingerprint', 'success_url'),
      ...document('last_error', 'success_response'),
      ...boolean('success_truncated'),
    ],
  },
  {
    name: 'attempts',
    key: ['message_id', 'id'],
    columns: [
      ...text('message_id', 'id', 'delivery_id', 'application_id', 'destination_id', 'event_type', 'trigger_kind'),
      ...text('url', 'error', 'decision'),
      ...integer('number', 'started_at', 'duration_ms', 'status'),
      ...document('response'),
      ...boolean('response_truncated', 'succeeded'),
    ],
  },
  { name: 'lanes', key: ['destination_id'], columns: text('destination_id', 'sweep') },
  {
    name: 'remembered',
    key: ['key'],
    columns: [...text('key', 'fingerprint'), ...integer('status', 'expires_at'), ...document('body')],
  },
];

function of(kind: ColumnKind): (...names: string[]) => TransferColumn[] {
  return (...names) => names.map((name) => ({ name, kind }));
}
