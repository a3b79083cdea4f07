/** Rows as records, where this database has its own way to say it. The others are in ../rows.ts. */
import type { Attempt, Decision, Message } from '../../model/index.ts';

export interface MessageRow {
  id: string;
  application_id: string;
  event_id: string | null;
  event_type: string;
  channels: string[] | null;
  tags: string[] | null;
  payload: Uint8Array;
  created_at: number;
  headers: string | null;
  content_type: string | null;
  conflicts: number | null;
}

export function toMessage(row: MessageRow): Message {
  return {
    id: row.id,
    applicationId: row.application_id,
    eventType: row.event_type,
    payload: row.payload,
    createdAt: row.created_at,
    ...(row.event_id === null ? {} : { eventId: row.event_id }),
    ...(row.channels === null ? {} : { channels: row.channels }),
    ...(row.tags === null ? {} : { tags: row.tags }),
    ...(row.headers === null ? {} : { headers: JSON.parse(row.headers) as Record<string, string> }),
    ...(row.content_type === null ? {} : { contentType: row.content_type }),
    ...(row.conflicts === null ? {} : { conflicts: row.conflicts }),
  };
}

export interface AttemptRow {
  id: string;
  message_id: string;
  delivery_id: string;
  application_id: string;
  destination_id: string;
  event_type: string;
  number: number;
  trigger_kind: Attempt['trigger'];
  url: string;
  started_at: number;
  duration_ms: number;
  status: number;
  error: Attempt['error'] | null;
  response: string;
  response_truncated: boolean;
  decision: string;
}

export function toAttempt(row: AttemptRow): Attempt {
  return {
    id: row.id,
    deliveryId: row.delivery_id,
    messageId: row.message_id,
    applicationId: row.application_id,
    destinationId: row.destination_id,
    eventType: row.event_type,
    number: row.number,
    trigger: row.trigger_kind,
    url: row.url,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    status: row.status,
    response: row.response,
    responseTruncated: row.response_truncated,
    decision: JSON.parse(row.decision) as Decision,
    ...(row.error ? { error: row.error } : {}),
  };
}
