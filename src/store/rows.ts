/** Rows as records, where the databases answer alike. Column names are the model's in snake case. */
import type { Delivery, EndpointHealth } from '../model/index.ts';
import type { ClaimedDelivery } from './store.ts';

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
    ...(row.due_at === null ? {} : { dueAt: row.due_at }),
    ...(row.dead_cause ? { deadCause: row.dead_cause } : {}),
    ...(row.dead_at === null ? {} : { deadAt: row.dead_at }),
    ...(row.fingerprint === null ? {} : { fingerprint: row.fingerprint }),
    ...(row.last_error === null ? {} : { lastError: row.last_error }),
  };
}

export interface ClaimedRow extends DeliveryRow {
  payload: Uint8Array | null;
}

export function toClaimed(row: ClaimedRow): ClaimedDelivery {
  return {
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
