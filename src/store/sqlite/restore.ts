import { DEAD_LETTER_COLUMNS, deadLetterValues } from '../row-values.ts';
import type { ArchivedDelivery, RestoreInput, RestoreResult } from '../store.ts';
import { insertMessage } from './accept.ts';
import { type Db, insertRows } from './driver.ts';
import { knownEvent, takeBackEventId } from './event-ids.ts';
import { fanoutRevision } from './owners.ts';
import { insertAttempt } from './record.ts';

const KNOWN = 'SELECT 1 AS found FROM deliveries WHERE id = ? OR (message_id = ? AND destination_id = ?)';
const HAS_MESSAGE = 'SELECT 1 AS found FROM messages WHERE application_id = ? AND id = ?';
const HAS_ATTEMPT = 'SELECT 1 AS found FROM attempts WHERE message_id = ? AND id = ?';
const DEAD_LETTERS = insertRows(`deliveries (${DEAD_LETTER_COLUMNS})`);

export function restore(db: Db, input: RestoreInput): RestoreResult[] {
  return input.items.map((item) => restoreOne(db, item, input.now));
}

function restoreOne(db: Db, { delivery, message, attempts }: ArchivedDelivery, now: number): RestoreResult {
  const { applicationId, eventId } = message;
  if (fanoutRevision(db, applicationId) === undefined) return 'missing';
  if (db.get(KNOWN, delivery.id, message.id, delivery.destinationId) !== undefined) return 'exists';
  if (db.get(HAS_MESSAGE, applicationId, message.id) === undefined) {
    if (eventId !== undefined) {
      const known = knownEvent(db, message);
      if (known !== undefined && (!known.isGone || known.messageId !== message.id)) return 'conflict';
      takeBackEventId(db, applicationId, eventId, message.id);
    }
    insertMessage(db, message);
  }
  db.runRows(DEAD_LETTERS, [], deadLetterValues(delivery, now));
  for (const attempt of attempts) {
    if (db.get(HAS_ATTEMPT, attempt.messageId, attempt.id) === undefined) insertAttempt(db, attempt);
  }
  return 'restored';
}
