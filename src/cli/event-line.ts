/** The engine's events for a person at a terminal, one line each. */
import type { EngineEvent } from '../engine/index.ts';
import { describeError } from '../errors.ts';
import type { Attempt } from '../model/index.ts';
import { terminalLine, timeOfDay } from './terminal-line.ts';

export function eventLine(event: EngineEvent, now: number): string | undefined {
  switch (event.kind) {
    case 'attempt':
      return event.takenOver && event.attempt.decision.kind === 'retry' ? undefined : attemptLine(event.attempt);
    case 'taken_over': {
      const deliveries = event.count === 1 ? '1 delivery' : `${event.count} deliveries`;
      return terminalLine(now, `a former process ended with ${deliveries} under way, tried again now`);
    }
    case 'endpoint': {
      const { status, reason } = event.health;
      if (!event.statusChanged || status === 'active') return undefined;
      return terminalLine(now, `endpoint ${event.endpointId} is ${status}`, ...(reason ? [reason] : []));
    }
    case 'fenced':
      return terminalLine(now, 'this node lost its lease (did the machine sleep?) and has joined again');
    case 'trouble':
      return terminalLine(now, `something failed on our side: ${describeError(event.error)}; it is tried again`);
    case 'restored':
      return terminalLine(now, event.what);
    case 'cycle':
      return undefined;
  }
}

function attemptLine({ eventType, url, number, startedAt, durationMs, decision }: Attempt): string {
  const endedAt = startedAt + durationMs;
  const about = [`${eventType} → ${url}`, decision.reason];
  if (decision.kind === 'delivered') {
    return terminalLine(endedAt, ...about, ...(number > 1 ? [`at attempt ${number}`] : []));
  }
  const next = decision.kind === 'retry' ? `next at ${timeOfDay(endedAt + decision.delayMs)}` : 'now a dead letter';
  return terminalLine(endedAt, ...about, next);
}
