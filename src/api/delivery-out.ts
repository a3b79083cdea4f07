/** Attempts and deliveries as the wire shows them. */
import type { Attempt, Decision, Delivery } from '../model/index.ts';
import {
  type AttemptedDestination,
  type DeliveryDetail,
  PROGRESS,
  type Progress,
  progressOf,
} from '../resources/index.ts';
import type { AttemptedDestinationOut, AttemptOut, DeliveryOut } from './contract-delivery.ts';
import { time, timeOrNull } from './wire.ts';

export function attemptOut(attempt: Attempt, withContent = true): AttemptOut {
  const succeeded = attempt.decision.kind === 'delivered';
  return {
    id: attempt.id,
    msgId: attempt.messageId,
    endpointId: attempt.destinationId,
    deliveryId: attempt.deliveryId,
    number: attempt.number,
    url: attempt.url,
    response: withContent ? attempt.response : '{}',
    responseTruncated: attempt.responseTruncated,
    responseStatusCode: attempt.status,
    responseDurationMs: attempt.durationMs,
    error: attempt.error ?? null,
    status: succeeded ? 0 : 2,
    statusText: succeeded ? 'success' : 'fail',
    triggerType: attempt.trigger === 'manual' ? 1 : 0,
    timestamp: time(attempt.startedAt),
    decision: decisionOut(attempt.decision),
  };
}

function decisionOut(decision: Decision): AttemptOut['decision'] {
  const { kind, reason } = decision;
  if (decision.kind === 'retry') return { kind, reason, delayMs: decision.delayMs, source: decision.source };
  return decision.kind === 'dead' ? { kind, reason, cause: decision.cause } : { kind, reason };
}

/** Clients of before `canceled` are told that it failed. */
export function progressOut(delivery: Delivery, expanded: boolean) {
  const exact = progressOf(delivery);
  const progress: Progress = exact === 'canceled' && !expanded ? 'fail' : exact;
  const nextAttempt = nextAttemptOf(delivery);
  return { status: PROGRESS.indexOf(progress), statusText: progress, nextAttempt };
}

function nextAttemptOf({ state, dueAt }: Delivery): string | null {
  return state === 'pending' && dueAt !== undefined ? time(dueAt) : null;
}

export function destinationOut(item: AttemptedDestination, expanded: boolean): AttemptedDestinationOut {
  const { delivery, endpoint, lastUrl } = item;
  const { record, health } = endpoint ?? {};
  return {
    id: delivery.destinationId,
    uid: record?.uid ?? null,
    url: record?.url ?? lastUrl ?? '',
    description: record?.description ?? '',
    version: record?.version ?? 1,
    disabled: health === undefined || health.status === 'disabled',
    deleted: record === undefined,
    channels: record?.channels?.slice() ?? null,
    filterTypes: record?.eventTypes?.slice() ?? null,
    eventTypes: record?.eventTypes?.slice() ?? null,
    rateLimit: record?.rateLimit ?? null,
    throttleRate: record?.rateLimit ?? null,
    createdAt: time(record?.createdAt ?? delivery.createdAt),
    updatedAt: time(record?.updatedAt ?? delivery.updatedAt),
    ...progressOut(delivery, expanded),
  };
}

export function deliveryOut(delivery: Delivery): DeliveryOut {
  const { id, applicationId, messageId, destinationId, eventType, state, reason, trigger } = delivery;
  return {
    id,
    applicationId,
    msgId: messageId,
    endpointId: destinationId,
    eventType,
    state,
    reason,
    trigger,
    attemptCount: delivery.attempts,
    scheduleAttemptCount: delivery.scheduleAttempts,
    nextAttempt: nextAttemptOf(delivery),
    deadCause: delivery.deadCause ?? null,
    deadAt: timeOrNull(delivery.deadAt),
    fingerprint: delivery.fingerprint ?? null,
    lastError: delivery.lastError ?? null,
    createdAt: time(delivery.createdAt),
    updatedAt: time(delivery.updatedAt),
  };
}

export function deliveryDetailOut({ delivery, attempts }: DeliveryDetail): DeliveryOut & { attempts: AttemptOut[] } {
  return { ...deliveryOut(delivery), attempts: attempts.map((attempt) => attemptOut(attempt)) };
}
