import type { Decision, EndpointHealth } from '../model/index.ts';

/** One recorded attempt, as far as its endpoint is concerned. */
export interface HealthEvent {
  readonly kind: 'success' | 'failure';
  readonly at: number;
  /** When the first attempt of this delivery's schedule started: `fail-when-silent` looks for a success since then. */
  readonly firstAttemptAt: number;
  readonly decision: Decision;
}

export type HealthLabel = 'active' | 'degraded' | 'failed' | 'paused' | 'disabled';

/**
 * What an attempt does to its endpoint's health. It can take an endpoint out of service, never bring it back: only a
 * person or a probe resumes one, so a success that was still in flight does not reopen it.
 */
export function healthAfter(health: EndpointHealth, event: HealthEvent): EndpointHealth {
  if (event.kind === 'success') {
    return { ...health, failureCount: 0, lastSuccessAt: Math.max(event.at, health.lastSuccessAt ?? event.at) };
  }
  const after: EndpointHealth = {
    ...health,
    failureCount: health.failureCount + 1,
    lastFailureAt: Math.max(event.at, health.lastFailureAt ?? event.at),
  };
  const { decision } = event;
  if (decision.kind !== 'dead' || decision.endpoint === undefined) return after;
  switch (decision.endpoint) {
    case 'disable':
      // An endpoint that says it is gone is gone, also while it is paused or failed.
      return health.status === 'disabled' ? after : { ...after, status: 'disabled', reason: decision.reason };
    case 'fail':
      return failed(after, decision.reason);
    case 'fail-when-silent': {
      const silent = health.lastSuccessAt === undefined || health.lastSuccessAt < event.firstAttemptAt;
      return silent ? failed(after, decision.reason) : after;
    }
  }
}

/** A paused or disabled endpoint keeps its state and the reason that a person knows it by. */
function failed(health: EndpointHealth, reason: string): EndpointHealth {
  return health.status === 'active' ? { ...health, status: 'failed', reason } : health;
}

/** The word that people see: an active endpoint with recent failures is degraded. */
export function healthLabel(health: EndpointHealth): HealthLabel {
  return health.status === 'active' && health.failureCount > 0 ? 'degraded' : health.status;
}
