/** Records as the values of their columns, in the columns' order: what rows.ts reads, the other way round. */
import type { Attempt, Delivery, Message } from '../model/index.ts';

export const MESSAGE_COLUMNS =
  'id, application_id, event_id, event_type, channels, tags, payload, created_at, headers, content_type, conflicts';

/** A message whose headers may be JSON text already, as they are stored. */
export type MessageToWrite = Omit<Message, 'headers'> & { readonly headers?: Message['headers'] | string };

export function messageValues(message: MessageToWrite) {
  return [
    message.id,
    message.applicationId,
    message.eventId ?? null,
    message.eventType,
    message.channels ? JSON.stringify(message.channels) : null,
    message.tags ? JSON.stringify(message.tags) : null,
    message.payload,
    message.createdAt,
    typeof message.headers === 'object' ? JSON.stringify(message.headers) : (message.headers ?? null),
    message.contentType ?? null,
    message.conflicts ?? null,
  ];
}

export const DEAD_LETTER_COLUMNS = `id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
  schedule_attempts, max_attempts, first_attempt_at, due_at, created_at, updated_at, reason, dead_cause, dead_at, fingerprint,
  last_error`;

export function deadLetterValues(delivery: Delivery, updatedAt: number) {
  return [
    delivery.id,
    delivery.messageId,
    delivery.applicationId,
    delivery.destinationId,
    delivery.eventType,
    'dead',
    delivery.trigger,
    delivery.attempts,
    delivery.scheduleAttempts,
    delivery.maxAttempts ?? null,
    delivery.firstAttemptAt ?? null,
    // It has waited: its attempts have rows of their own.
    delivery.createdAt,
    delivery.createdAt,
    updatedAt,
    delivery.reason,
    delivery.deadCause ?? 'exhausted',
    delivery.deadAt ?? delivery.updatedAt,
    delivery.fingerprint ?? 'unknown',
    delivery.lastError ?? delivery.reason,
  ];
}

export const ATTEMPT_COLUMNS = `id, message_id, delivery_id, application_id, destination_id, event_type, number, trigger_kind,
  url, started_at, duration_ms, status, error, response, response_truncated, succeeded, decision`;

export function attemptValues(attempt: Attempt) {
  return [
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
    attempt.response,
    attempt.responseTruncated,
    attempt.decision.kind === 'delivered',
    JSON.stringify(attempt.decision),
  ];
}
