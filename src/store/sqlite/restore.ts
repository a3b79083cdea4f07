import type { Delivery } from '../../model/index.ts';
import type { ArchivedDelivery, RestoreResult } from '../store.ts';
import { insertMessage } from './accept.ts';
import type { Db } from './driver.ts';
import { goneMessage, takeBackEventId } from './event-ids.ts';
import { fanoutRevision } from './owners.ts';
import { insertAttempt } from './record.ts';

const KNOWN = 'SELECT 1 AS found FROM deliveries WHERE id = ? OR (message_id = ? AND destination_id = ?)';
const HAS_MESSAGE = 'SELECT 1 AS found FROM messages WHERE application_id = ? AND id = ?';
const EVENT_ID_TAKEN = 'SELECT 1 AS found FROM messages WHERE application_id = ? AND event_id = ?';
const SET_CONFLICTS = 'UPDATE messages SET conflicts = ? WHERE application_id = ? AND id = ?';
const HAS_ATTEMPT = 'SELECT 1 AS found FROM attempts WHERE message_id = ? AND id = ?';
const INSERT = `
  INSERT INTO deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
    schedule_attempts, max_attempts, first_attempt_at, created_at, updated_at, reason, dead_cause, dead_at, fingerprint,
    last_error)
  VALUES (?, ?, ?, ?, ?, 'dead', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

export function restore(db: Db, input: { items: readonly ArchivedDelivery[] }): RestoreResult[] {
  return input.items.map((item) => restoreOne(db, item));
}

function restoreOne(db: Db, { delivery, message, attempts }: ArchivedDelivery): RestoreResult {
  const { applicationId, eventId } = message;
  if (fanoutRevision(db, applicationId) === undefined) return 'missing';
  if (db.get(KNOWN, delivery.id, message.id, delivery.destinationId) !== undefined) return 'exists';
  if (db.get(HAS_MESSAGE, applicationId, message.id) === undefined) {
    if (eventId !== undefined) {
      if (db.get(EVENT_ID_TAKEN, applicationId, eventId) !== undefined) return 'conflict';
      if ((goneMessage(db, applicationId, eventId) ?? message.id) !== message.id) return 'conflict';
      takeBackEventId(db, applicationId, eventId, message.id);
    }
    insertMessage(db, message);
    if (message.conflicts !== undefined) db.run(SET_CONFLICTS, message.conflicts, applicationId, message.id);
  }
  insertDead(db, delivery);
  for (const attempt of attempts) {
    if (db.get(HAS_ATTEMPT, attempt.messageId, attempt.id) === undefined) insertAttempt(db, attempt);
  }
  return 'restored';
}

function insertDead(db: Db, delivery: Delivery): void {
  db.run(
    INSERT,
    delivery.id,
    delivery.messageId,
    delivery.applicationId,
    delivery.destinationId,
    delivery.eventType,
    delivery.trigger,
    delivery.attempts,
    delivery.scheduleAttempts,
    delivery.maxAttempts ?? null,
    delivery.firstAttemptAt ?? null,
    delivery.createdAt,
    delivery.updatedAt,
    delivery.reason,
    delivery.deadCause ?? 'exhausted',
    delivery.deadAt ?? delivery.updatedAt,
    delivery.fingerprint ?? 'unknown',
    delivery.lastError ?? delivery.reason,
  );
}
