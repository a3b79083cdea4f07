/**
 * The engine's events as log lines: one for every failed attempt, one a second for the sum, one for each change. After a
 * crash there may be thousands of attempts that it interrupted: those are one line, and each is there for who debugs.
 */
import { describeError } from '../errors.ts';
import type { EngineEvent } from './engine.ts';

/** What is needed of a logger; pino's shape. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export function logEvent(logger: Logger, event: EngineEvent): void {
  switch (event.kind) {
    case 'attempt':
      logAttempt(logger, event);
      break;
    case 'taken_over': {
      const { count, deliveryIds } = event;
      logger.warn(
        { count, deliveryIds },
        'a process died or stalled while it had deliveries: each may have been sent, or not, and is recorded as interrupted',
      );
      break;
    }
    case 'endpoint':
      logEndpoint(logger, event);
      break;
    case 'cycle': {
      const { claimed, delivered, retried, failed } = event;
      logger.info({ claimed, delivered, retried, failed }, 'delivery cycle');
      break;
    }
    case 'fenced':
      logger.warn({}, 'this node lost its lease (it stalled or could not reach the store) and has joined again');
      break;
    case 'trouble':
      logger.error({ error: describeError(event.error) }, 'something failed on our side; the engine goes on');
      break;
    case 'restored':
      logger.info({}, event.what);
      break;
  }
}

function logAttempt(logger: Logger, event: EngineEvent & { kind: 'attempt' }): void {
  const { attempt, eventId, scheduleAttempts, maxAttempts } = event;
  const about = {
    ...(eventId === undefined ? {} : { eventId }),
    messageId: attempt.messageId,
    deliveryId: attempt.deliveryId,
    endpointId: attempt.destinationId,
    eventType: attempt.eventType,
    attempt: scheduleAttempts,
    maxAttempts,
    status: attempt.status,
    durationMs: attempt.durationMs,
  };
  const { decision } = attempt;
  if (decision.kind === 'delivered') {
    if (eventId === undefined) logger.debug(about, 'delivered');
    else
      logger.info(
        about,
        attempt.number > 1 ? 'webhook event processed, removed from the retry queue' : 'webhook event processed',
      );
    return;
  }
  const error = attempt.error === undefined ? `HTTP ${attempt.status}` : `${attempt.error}: ${attempt.response}`;
  const willRetry = decision.kind === 'retry';
  const fields = {
    ...about,
    willRetry,
    error,
    ...(willRetry ? { retryInMs: decision.delayMs } : { cause: decision.cause }),
    reason: decision.reason,
  };
  // One that came to an end by it is in no sum: it must be seen.
  if (event.takenOver && willRetry) logger.debug(fields, 'webhook delivery failed');
  else logger.warn(fields, 'webhook delivery failed');
}

function logEndpoint(logger: Logger, event: EngineEvent & { kind: 'endpoint' }): void {
  if (!event.statusChanged) return;
  const { status, reason, failureCount } = event.health;
  logger.warn(
    { endpointId: event.endpointId, applicationId: event.applicationId, status, reason, failureCount },
    'endpoint stopped',
  );
}
