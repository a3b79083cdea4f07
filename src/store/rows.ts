/** Rows as records. Column names are the model's in snake case. */
import {
  type Attempt,
  type Decision,
  type Delivery,
  type EndpointHealth,
  FINAL_STATES,
  type Message,
} from '../model/index.ts';
import type { ClaimedDelivery } from './leasing.ts';
import type { Counts } from './queries.ts';

export interface DeliveryRow {
  id: string;
  message_id: string;
  application_id: string;
  destination_id: string;
  event_type: string;
  state: Delivery['state'];
  trigger_kind: Delivery['trigger'];
  attempts: number;
  schedule_attempts: number;
  max_attempts: number | null;
  first_attempt_at: number | null;
  due_at: number | null;
  lease_epoch: number | null;
  created_at: number;
  updated_at: number;
  reason: string;
  dead_cause: Delivery['deadCause'] | null;
  dead_at: number | null;
  fingerprint: string | null;
  last_error: string | null;
}

export function toDelivery(row: DeliveryRow): Delivery {
  // A column that stays when the delivery is finished (first-success.ts). What was handed over has waited for nothing.
  const dueAt = FINAL_STATES.includes(row.state) ? null : (row.due_at ?? row.created_at);
  return {
    id: row.id,
    messageId: row.message_id,
    applicationId: row.application_id,
    destinationId: row.destination_id,
    eventType: row.event_type,
    state: row.state,
    trigger: row.trigger_kind,
    attempts: row.attempts,
    scheduleAttempts: row.schedule_attempts,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    reason: row.reason,
    ...(row.max_attempts === null ? {} : { maxAttempts: row.max_attempts }),
    ...(row.first_attempt_at === null ? {} : { firstAttemptAt: row.first_attempt_at }),
    ...(dueAt === null ? {} : { dueAt }),
    ...(row.dead_cause ? { deadCause: row.dead_cause } : {}),
    ...(row.dead_at === null ? {} : { deadAt: row.dead_at }),
    ...(row.fingerprint === null ? {} : { fingerprint: row.fingerprint }),
    ...(row.last_error === null ? {} : { lastError: row.last_error }),
  };
}

export interface ClaimedRow extends DeliveryRow {
  payload: Uint8Array | null;
  /** Of a received message: its event id, its headers as their text, and its content type. */
  received?: string | null;
}

export function toClaimed(row: ClaimedRow): ClaimedDelivery {
  const claimed: { -readonly [K in keyof ClaimedDelivery]: ClaimedDelivery[K] } = {
    id: row.id,
    messageId: row.message_id,
    applicationId: row.application_id,
    destinationId: row.destination_id,
    eventType: row.event_type,
    trigger: row.trigger_kind,
    attempts: row.attempts,
    scheduleAttempts: row.schedule_attempts,
    firstAttemptAt: row.first_attempt_at ?? undefined,
    dueAt: row.due_at ?? row.created_at,
    createdAt: row.created_at,
    payload: row.payload ?? new Uint8Array(),
  };
  if (row.received) claimed.received = toReceived(row.received);
  return claimed;
}

function toReceived(column: string): NonNullable<ClaimedDelivery['received']> {
  const [eventId, headers, contentType] = JSON.parse(column) as (string | null)[];
  return {
    ...(typeof eventId === 'string' && { eventId }),
    ...(typeof headers === 'string' && { headers: JSON.parse(headers) as Record<string, string> }),
    ...(typeof contentType === 'string' && { contentType }),
  };
}

export interface HealthRow {
  status: EndpointHealth['status'];
  reason: string;
  failure_count: number;
  last_success_at: number | null;
  last_failure_at: number | null;
}

export function toHealth(row: HealthRow): EndpointHealth {
  return {
    status: row.status,
    reason: row.reason,
    failureCount: row.failure_count,
    ...(row.last_success_at === null ? {} : { lastSuccessAt: row.last_success_at }),
    ...(row.last_failure_at === null ? {} : { lastFailureAt: row.last_failure_at }),
  };
}

export interface MessageRow {
  id: string;
  application_id: string;
  event_id: string | null;
  event_type: string;
  channels: ListColumn;
  tags: ListColumn;
  payload: Uint8Array;
  created_at: number;
  headers: string | null;
  content_type: string | null;
  conflicts: number | null;
}

/** As its text, or read already by a database that knows JSON. */
type ListColumn = string | readonly string[] | null;

export function toMessage(row: MessageRow): Message {
  return {
    id: row.id,
    applicationId: row.application_id,
    eventType: row.event_type,
    payload: row.payload,
    createdAt: row.created_at,
    ...(row.event_id === null ? {} : { eventId: row.event_id }),
    ...(row.channels === null ? {} : { channels: toList(row.channels) }),
    ...(row.tags === null ? {} : { tags: toList(row.tags) }),
    ...(row.headers === null ? {} : { headers: JSON.parse(row.headers) as Record<string, string> }),
    ...(row.content_type === null ? {} : { contentType: row.content_type }),
    ...(row.conflicts === null ? {} : { conflicts: row.conflicts }),
  };
}

function toList(column: string | readonly string[]): readonly string[] {
  return typeof column === 'string' ? (JSON.parse(column) as string[]) : column;
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
  /** 0 or 1 in a database that has no other way to say it. */
  response_truncated: boolean | number;
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
    responseTruncated: Boolean(row.response_truncated),
    decision: JSON.parse(row.decision) as Decision,
    ...(row.error ? { error: row.error } : {}),
  };
}

export type CountsRow = Partial<
  Record<'pending' | 'retrying' | 'leased' | 'held' | 'dead' | 'overdue' | 'untaken', number>
> & {
  /** The earliest due time of the lanes that wait, and of those in a node's hands. */
  waiting?: number | null;
  parked?: number | null;
};

export function toCounts(row: CountsRow): Counts {
  const due = [row.waiting, row.parked].filter((at) => typeof at === 'number');
  return {
    pending: row.pending ?? 0,
    retrying: row.retrying ?? 0,
    leased: row.leased ?? 0,
    held: row.held ?? 0,
    dead: row.dead ?? 0,
    overdue: row.overdue ?? 0,
    untaken: row.untaken ?? 0,
    oldestDueAt: due.length === 0 ? undefined : Math.min(...due),
  };
}
