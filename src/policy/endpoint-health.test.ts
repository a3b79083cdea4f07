import { describe, expect, it } from 'vitest';
import { type Decision, type EndpointHealth, HEALTHY } from '../model/index.ts';
import { type HealthEvent, healthAfter, healthLabel } from './endpoint-health.ts';

const delivered: Decision = { kind: 'delivered', reason: 'HTTP 200: delivered' };
const retry: Decision = { kind: 'retry', delayMs: 5000, source: 'schedule', reason: 'HTTP 500: retry 1 of 5 in 5 s' };

function dead(endpoint?: 'fail' | 'fail-when-silent' | 'disable'): Decision {
  const base = { kind: 'dead', cause: 'exhausted', reason: 'attempts exhausted (6 of 6): HTTP 500' } as const;
  return endpoint === undefined ? base : { ...base, endpoint };
}

const success = (at: number): HealthEvent => ({ kind: 'success', at, firstAttemptAt: at, decision: delivered });
const failure = (at: number, decision: Decision, firstAttemptAt = at): HealthEvent => ({
  kind: 'failure',
  at,
  firstAttemptAt,
  decision,
});

describe('healthAfter', () => {
  it('SPI-06 failureCount rises with every failed attempt and a success sets it to 0', () => {
    const once = healthAfter(HEALTHY, failure(10, retry));
    const twice = healthAfter(once, failure(20, dead()));
    expect(twice).toEqual({ status: 'active', reason: '', failureCount: 2, lastFailureAt: 20 });
    expect(healthAfter(twice, success(30))).toEqual({ ...twice, failureCount: 0, lastSuccessAt: 30 });
  });

  it('SPI-06 an exhausted delivery fails the endpoint, with the reason', () => {
    expect(healthAfter(HEALTHY, failure(10, dead('fail')))).toEqual({
      status: 'failed',
      reason: 'attempts exhausted (6 of 6): HTTP 500',
      failureCount: 1,
      lastFailureAt: 10,
    });
  });

  it('fail-when-silent spares an endpoint that took anything since the delivery’s first attempt', () => {
    const silent = failure(100, dead('fail-when-silent'), 50);
    expect(healthAfter(HEALTHY, silent).status).toBe('failed');
    expect(healthAfter({ ...HEALTHY, lastSuccessAt: 49 }, silent).status).toBe('failed');
    expect(healthAfter({ ...HEALTHY, lastSuccessAt: 50 }, silent).status).toBe('active');
    expect(healthAfter({ ...HEALTHY, lastSuccessAt: 99 }, silent)).toMatchObject({ status: 'active', failureCount: 1 });
  });

  it('a 410 disables the endpoint, also when it is paused or failed', () => {
    for (const status of ['active', 'paused', 'failed'] as const) {
      const after = healthAfter({ ...HEALTHY, status }, failure(10, dead('disable')));
      expect(after).toMatchObject({ status: 'disabled', reason: 'attempts exhausted (6 of 6): HTTP 500' });
    }
  });

  it('SPI-06 no attempt brings an endpoint back into service, not even a late success', () => {
    for (const status of ['paused', 'failed', 'disabled'] as const) {
      const stopped: EndpointHealth = { status, reason: 'why', failureCount: 6 };
      expect(healthAfter(stopped, success(10))).toMatchObject({ status, reason: 'why', failureCount: 0 });
      expect(healthAfter(stopped, failure(10, retry))).toMatchObject({ status, reason: 'why', failureCount: 7 });
      expect(healthAfter(stopped, failure(10, dead('fail')))).toMatchObject({ status, reason: 'why' });
    }
  });

  it('attempts that are recorded out of order do not move the times back', () => {
    expect(healthAfter({ ...HEALTHY, lastSuccessAt: 50 }, success(40)).lastSuccessAt).toBe(50);
    expect(healthAfter({ ...HEALTHY, lastFailureAt: 50 }, failure(40, retry)).lastFailureAt).toBe(50);
  });
});

describe('healthLabel', () => {
  it('SPI-06 an active endpoint with recent failures is degraded; the other states keep their name', () => {
    expect(healthLabel(HEALTHY)).toBe('active');
    expect(healthLabel({ ...HEALTHY, failureCount: 1 })).toBe('degraded');
    for (const status of ['paused', 'failed', 'disabled'] as const) {
      expect(healthLabel({ ...HEALTHY, status, failureCount: 3 })).toBe(status);
    }
  });
});
