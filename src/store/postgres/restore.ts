/** Brings dead letters back, one after the other in one transaction: what a person does now and then, not a hot path. */
import {
  ATTEMPT_COLUMNS,
  attemptValues,
  DEAD_LETTER_COLUMNS,
  deadLetterValues,
  MESSAGE_COLUMNS,
  messageValues,
} from '../row-values.ts';
import type { ArchivedDelivery, RestoreInput, RestoreResult } from '../store.ts';
import { withoutNul } from './dialect.ts';
import { type Db, type Runner, statement } from './driver.ts';
import { share } from './locks.ts';

const OWNER = statement(
  'restore_owner',
  'SELECT 1 FROM applications WHERE id = $1 UNION ALL SELECT 1 FROM sources WHERE id = $1',
);
const KNOWN = statement(
  'restore_known',
  'SELECT 1 FROM deliveries WHERE id = $1 UNION ALL SELECT 1 FROM deliveries WHERE message_id = $2 AND destination_id = $3',
);
const HAS_MESSAGE = statement('restore_has_message', 'SELECT 1 FROM messages WHERE id = $2 AND application_id = $1');
const TAKE_EVENT_ID = statement(
  'restore_take_event_id',
  `INSERT INTO event_ids (application_id, event_id, message_id) VALUES ($1, $2, $3)
  ON CONFLICT (application_id, event_id) DO UPDATE SET message_id = excluded.message_id
    WHERE event_ids.message_id = excluded.message_id`,
);
const insertInto = (name: string, table: string, columns: string, conflict = '') => {
  const places = columns.split(',').map((_, index) => `$${index + 1}`);
  return statement(name, `INSERT INTO ${table} (${columns}) VALUES (${places.join(', ')}) ${conflict}`);
};
const INSERT_MESSAGE = insertInto('restore_message', 'messages', MESSAGE_COLUMNS);
const INSERT_DEAD = insertInto('restore_delivery', 'deliveries', DEAD_LETTER_COLUMNS);
const INSERT_ATTEMPT = insertInto('restore_attempt', 'attempts', ATTEMPT_COLUMNS, 'ON CONFLICT DO NOTHING');

export function restore(db: Db, input: RestoreInput): Promise<RestoreResult[]> {
  const owners = [...new Set(input.items.map(({ message }) => message.applicationId))];
  return db.transaction(
    async (tx) => {
      const results: RestoreResult[] = [];
      for (const item of input.items) results.push(await restoreOne(tx, item, input.now));
      return results;
    },
    share(db, ...owners.map((id) => ({ kind: 'application' as const, id }))),
  );
}

async function restoreOne(
  tx: Runner,
  { delivery, message, attempts }: ArchivedDelivery,
  now: number,
): Promise<RestoreResult> {
  const { applicationId, eventId } = message;
  const [owner, known, stored] = await Promise.all([
    tx.all(OWNER, applicationId),
    tx.all(KNOWN, delivery.id, message.id, delivery.destinationId),
    tx.all(HAS_MESSAGE, applicationId, message.id),
  ]);
  if (owner.length === 0) return 'missing';
  if (known.length > 0) return 'exists';
  if (stored.length === 0) {
    const free = eventId === undefined || (await tx.run(TAKE_EVENT_ID, applicationId, eventId, message.id)) === 1;
    if (!free) return 'conflict';
    await tx.run(INSERT_MESSAGE, ...messageValues(message));
  }
  await Promise.all([
    tx.run(INSERT_DEAD, ...deadLetterValues(delivery, now).map(storable)),
    ...attempts.map((attempt) => tx.run(INSERT_ATTEMPT, ...attemptValues(attempt).map(storable))),
  ]);
  return 'restored';
}

function storable<T>(value: T): T | string {
  return typeof value === 'string' ? withoutNul(value) : value;
}
