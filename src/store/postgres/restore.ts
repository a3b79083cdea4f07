/** Brings dead letters back, one after the other in one transaction: what a person does now and then, not a hot path. */
import type { Attempt, Delivery, Message } from '../../model/index.ts';
import type { ArchivedDelivery, RestoreResult } from '../store.ts';
import { type Db, type Runner, statement } from './driver.ts';
import { share } from './locks.ts';
import { withoutNul } from './record.ts';

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
const INSERT_MESSAGE = statement(
  'restore_message',
  `INSERT INTO messages (id, application_id, event_id, event_type, channels, tags, payload, created_at, headers,
    content_type, conflicts)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);
const INSERT_DEAD = statement(
  'restore_delivery',
  `INSERT INTO deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
    schedule_attempts, max_attempts, first_attempt_at, created_at, updated_at, reason, dead_cause, dead_at, fingerprint,
    last_error)
  VALUES ($1, $2, $3, $4, $5, 'dead', $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
);
const INSERT_ATTEMPT = statement(
  'restore_attempt',
  `INSERT INTO attempts (id, message_id, delivery_id, application_id, destination_id, event_type, number, trigger_kind, url,
    started_at, duration_ms, status, error, response, response_truncated, succeeded, decision)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT DO NOTHING`,
);

export function restore(db: Db, input: { items: readonly ArchivedDelivery[] }): Promise<RestoreResult[]> {
  const owners = [...new Set(input.items.map(({ message }) => message.applicationId))];
  return db.transaction(
    async (tx) => {
      const results: RestoreResult[] = [];
      for (const item of input.items) results.push(await restoreOne(tx, item));
      return results;
    },
    share(db, ...owners.map((id) => ({ kind: 'application' as const, id }))),
  );
}

async function restoreOne(tx: Runner, { delivery, message, attempts }: ArchivedDelivery): Promise<RestoreResult> {
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
    await insertMessage(tx, message);
  }
  await Promise.all([insertDead(tx, delivery), ...attempts.map((attempt) => insertAttempt(tx, attempt))]);
  return 'restored';
}

function insertMessage(tx: Runner, message: Message): Promise<number> {
  return tx.run(
    INSERT_MESSAGE,
    message.id,
    message.applicationId,
    message.eventId ?? null,
    message.eventType,
    message.channels ? JSON.stringify(message.channels) : null,
    message.tags ? JSON.stringify(message.tags) : null,
    message.payload,
    message.createdAt,
    message.headers ? JSON.stringify(message.headers) : null,
    message.contentType ?? null,
    message.conflicts ?? null,
  );
}

function insertDead(tx: Runner, delivery: Delivery): Promise<number> {
  return tx.run(
    INSERT_DEAD,
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
    withoutNul(delivery.reason),
    delivery.deadCause ?? 'exhausted',
    delivery.deadAt ?? delivery.updatedAt,
    delivery.fingerprint ?? 'unknown',
    withoutNul(delivery.lastError ?? delivery.reason),
  );
}

function insertAttempt(tx: Runner, attempt: Attempt): Promise<number> {
  return tx.run(
    INSERT_ATTEMPT,
    attempt.id,
    attempt.messageId,
    attempt.deliveryId,
    attempt.applicationId,
    attempt.destinationId,
    attempt.eventType,
    attempt.number,
    attempt.trigger,
    attempt.url,
    attempt.startedAt,
    attempt.durationMs,
    attempt.status,
    attempt.error ?? null,
    withoutNul(attempt.response),
    attempt.responseTruncated,
    attempt.decision.kind === 'delivered',
    JSON.stringify(attempt.decision),
  );
}
