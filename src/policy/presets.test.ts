import { describe, expect, it } from 'vitest';
import { ERROR_KINDS, type ErrorKind, type Outcome, type Policy } from '../model/index.ts';
import { classify } from './classify.ts';
import { decide } from './decide.ts';
import { isPresetName, outbox, PRESET_NAMES, presets, stripeSubscriptions } from './presets.ts';
import { maxAttempts, scheduledDelay } from './schedule.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const ALMOST_ONE = 1 - 2 ** -48;

function outcomeOf(what: number | ErrorKind): Outcome {
  return typeof what === 'number'
    ? { kind: 'response', status: what, body: '', bodyTruncated: false, durationMs: 1 }
    : { kind: 'failure', error: what, message: what, durationMs: 1 };
}

/** The wait before each retry while an endpoint keeps failing, until the delivery is dead. */
function delaysOf(policy: Policy, draw: number, failure: number | ErrorKind = 'timeout'): number[] {
  const delays: number[] = [];
  for (let attempt = 1; ; attempt++) {
    const facts = { messageId: 'msg_1', deliveryId: 'dlv_1', attempt, firstAttemptAt: 0, now: 0 };
    const decision = decide({ ...facts, outcome: outcomeOf(failure) }, policy, draw);
    if (decision.kind !== 'retry') {
      expect(decision).toMatchObject({ kind: 'dead', cause: 'exhausted' });
      return delays;
    }
    delays.push(decision.delayMs);
  }
}

function expectVerdicts(policy: Policy, verdict: string, all: readonly (number | ErrorKind)[]): void {
  for (const what of all) expect([what, classify(outcomeOf(what), policy)]).toEqual([what, verdict]);
}

const others4xx = [402, 404, 405, 406, 408, 409, 413, 415, 418, 422, 451, 499];
const all2xx = [200, 201, 202, 204, 206, 226, 299];
const network: ErrorKind[] = ['timeout', 'connect_timeout', 'connection_refused', 'connection_reset', 'dns', 'network'];

describe('payments-inbound', () => {
  const { policy } = presets['payments-inbound'];

  it('PAY-02 waits 1, 5 and 15 minutes and is dead after the 4th failed attempt', () => {
    expect(delaysOf(policy, 0)).toEqual([MINUTE, 5 * MINUTE, 15 * MINUTE]);
    expect(delaysOf(policy, ALMOST_ONE)).toEqual([MINUTE, 5 * MINUTE, 15 * MINUTE]);
    expect(maxAttempts(policy)).toBe(4);
  });

  it('PAY-03 retries timeouts, 429, 503, database and Redis errors, and by the same sense other 5xx and network errors', () => {
    expectVerdicts(policy, 'retry', [429, 503, 'timeout', 'connect_timeout', 'database', 'redis']);
    expectVerdicts(policy, 'retry', [500, 502, 504, 599, ...network, 'tls', 'malformed_response', 'unexpected']);
  });

  it('PAY-04 rejects 400, 401, 403, validation errors, unknown types and duplicates at once, and other 4xx', () => {
    const final: (number | ErrorKind)[] = [400, 401, 403, 'validation', 'unknown_event_type', 'duplicate'];
    expectVerdicts(policy, 'reject', [...final, 'permanent', 'blocked_address', ...others4xx]);
    const facts = { messageId: 'msg_1', deliveryId: 'dlv_1', attempt: 1, firstAttemptAt: 0, now: 0 };
    const decision = decide({ ...facts, outcome: outcomeOf('validation') }, policy, 0);
    expect(decision).toEqual({
      kind: 'dead',
      cause: 'rejected',
      reason: 'validation error: not retried by this policy',
    });
  });
});

describe('public-api', () => {
  const { policy } = presets['public-api'];
  const schedule = [5, 25, 125, 625, 3125].map((seconds) => seconds * SECOND);

  it('SPI-01 waits 5ⁿ seconds for 5 retries, about 65 minutes in all', () => {
    expect(delaysOf(policy, 0)).toEqual(schedule);
    expect(schedule.reduce((sum, delay) => sum + delay) / MINUTE).toBeCloseTo(65, 0);
    expect([1, 2, 3, 4, 5].map((retry) => scheduledDelay(policy, retry))).toEqual(schedule);
  });

  it('SPI-01 adds up to 10 % of jitter, never 10 % itself, to the last retry too', () => {
    expect(delaysOf(policy, 0.5)).toEqual([5250, 26_250, 131_250, 656_250, 3_281_250]);
    expect(delaysOf(policy, ALMOST_ONE)).toEqual([5499, 27_499, 137_499, 687_499, 3_437_499]);
  });

  it('SPI-02 retries every 5xx, timeouts, DNS failures, refused connections and unexpected errors', () => {
    expectVerdicts(policy, 'retry', [500, 501, 502, 503, 504, 507, 520, 599, ...network, 'tls', 'unexpected']);
  });

  it('SPI-03 retries 429', () => {
    expectVerdicts(policy, 'retry', [429]);
  });

  it('SPI-04 rejects every other 4xx and malformed responses', () => {
    expectVerdicts(policy, 'reject', [400, 401, 403, 404, 405, 410, ...others4xx, 'malformed_response']);
  });

  it('SPI-05 counts 3xx as success here, as a failed attempt to be retried everywhere else', () => {
    const redirects = [300, 301, 302, 303, 304, 307, 308];
    expectVerdicts(policy, 'success', redirects);
    for (const name of PRESET_NAMES.filter((each) => each !== 'public-api')) {
      expectVerdicts(presets[name].policy, 'retry', redirects);
      expect(presets[name].policy.redirects).toBe(name === 'quick' ? 'follow' : 'failure');
    }
  });

  it('SPI-06 exhaustion fails the endpoint', () => {
    const facts = { messageId: 'msg_1', deliveryId: 'dlv_1', attempt: 6, firstAttemptAt: 0, now: 0 };
    const decision = decide({ ...facts, outcome: outcomeOf(503) }, policy, 0);
    expect(decision).toMatchObject({ kind: 'dead', cause: 'exhausted', endpoint: 'fail' });
  });

  it('SPI-10 allows 5 s to connect and 10 s for the whole delivery', () => {
    expect(policy.timeouts).toEqual({ connectMs: 5 * SECOND, totalMs: 10 * SECOND });
  });
});

describe('quick', () => {
  const { policy } = presets.quick;

  it('BUL-01 makes 6 attempts after 1, 2, 4, 8 and 16 s plus up to 1 s, with a 30 s timeout', () => {
    expect(delaysOf(policy, 0)).toEqual([1000, 2000, 4000, 8000, 16_000]);
    expect(delaysOf(policy, 0.5)).toEqual([1500, 2500, 4500, 8500, 16_500]);
    expect(delaysOf(policy, ALMOST_ONE)).toEqual([1999, 2999, 4999, 8999, 16_999]);
    expect(maxAttempts(policy)).toBe(6);
    expect(policy.timeouts.totalMs).toBe(30 * SECOND);
  });

  it('BUL-03 any 2xx is success; 429, 5xx and network errors are retried; other 4xx are final', () => {
    expectVerdicts(policy, 'success', all2xx);
    expectVerdicts(policy, 'retry', [429, 500, 501, 502, 503, 504, 599, ...network, 'tls', 'too_many_redirects']);
    expectVerdicts(policy, 'reject', [400, 401, 403, 404, ...others4xx]);
  });
});

describe('stripe-subscriptions', () => {
  const { policy } = presets['stripe-subscriptions'];

  it('SUB-03 waits 30 s × 2ⁿ⁻¹ for 3 retries', () => {
    expect(delaysOf(policy, 0)).toEqual([30 * SECOND, MINUTE, 2 * MINUTE]);
  });

  it('SUB-03 keeps doubling up to one hour when maxRetries asks for more', () => {
    const delays = delaysOf(stripeSubscriptions({ maxRetries: 10 }), 0).map((delay) => delay / SECOND);
    expect(delays).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
  });

  it('SUB-12 dead-letters invalid data and failed business rules at once and retries database or API trouble', () => {
    expectVerdicts(policy, 'reject', ['validation', 'permanent']);
    expectVerdicts(policy, 'retry', ['database', 'redis', 'unexpected', 429, 500, 503, ...network]);
  });
});

describe('outbox', () => {
  it('BUD-01 the defaults keep the plain exponential schedule and no budget', () => {
    const doubling = [5, 10, 20, 40, 80, 160, 320, 640, 900].map((seconds) => seconds * SECOND);
    expect(delaysOf(presets.outbox.policy, ALMOST_ONE)).toEqual(doubling);
    expect(outbox()).toEqual(presets.outbox.policy);
  });

  it('BUD-04 a retry budget lowers the attempts to budget + 1, and 0 disables it', () => {
    expect(maxAttempts(outbox({ retryBudget: 3 }))).toBe(4);
    expect(maxAttempts(outbox({ retryBudget: 1 }))).toBe(2);
    expect(maxAttempts(outbox({ retryBudget: 100 }))).toBe(10);
    expect(maxAttempts(outbox({ retryBudget: 0 }))).toBe(10);
  });

  it('BUD-05 a delivery that has used its budget is failed directly', () => {
    expect(delaysOf(outbox({ retryBudget: 3 }), 0)).toHaveLength(3);
    const facts = { messageId: 'msg_1', deliveryId: 'dlv_1', attempt: 4, firstAttemptAt: 0, now: 0 };
    const decision = decide({ ...facts, outcome: outcomeOf(500) }, outbox({ retryBudget: 3 }), 0);
    expect(decision).toEqual({
      kind: 'dead',
      cause: 'exhausted',
      reason: 'attempts exhausted (4 of 4): HTTP 500',
    });
  });

  it('retries every kind of failed send, as its document does', () => {
    expectVerdicts(presets.outbox.policy, 'retry', [400, 404, 429, 500, ...network]);
  });
});

describe('multi-day', () => {
  const { policy } = presets['multi-day'];

  it('makes 10 attempts over 75 h 35 min 5 s, within 10 % either way', () => {
    const total = (draw: number) => delaysOf(policy, draw).reduce((sum, delay) => sum + delay);
    const expected = 75 * HOUR + 35 * MINUTE + 5 * SECOND;
    expect(maxAttempts(policy)).toBe(10);
    expect(total(0.5)).toBe(expected);
    expect(total(0)).toBe(expected * 0.9);
    expect(total(ALMOST_ONE)).toBeGreaterThan(expected * 1.0999);
  });

  it('fails only a silent endpoint', () => {
    expect(policy.onExhausted).toBe('fail-when-silent');
  });
});

describe('every preset', () => {
  it.each(PRESET_NAMES)(
    '%s is frozen, takes any 2xx, never retries a blocked address or 410, and honours Retry-After',
    (name) => {
      const { policy } = presets[name];
      expect(Object.isFrozen(policy) && Object.isFrozen(policy.schedule) && Object.isFrozen(policy.rules)).toBe(true);
      expectVerdicts(policy, 'success', all2xx);
      expectVerdicts(policy, 'reject', ['blocked_address', 410]);
      expect(policy.retryAfter.honour).toBe(true);
      expect(policy.maxDelayMs).toBeGreaterThanOrEqual(policy.retryAfter.capMs);
    },
  );

  it.each(PRESET_NAMES.filter((name) => name !== 'public-api'))('SPI-04 %s retries a malformed response', (name) => {
    expectVerdicts(presets[name].policy, 'retry', ['malformed_response']);
  });

  it('has a verdict on every error kind, and only its own names are presets', () => {
    for (const name of PRESET_NAMES) {
      for (const kind of ERROR_KINDS)
        expect(['retry', 'reject']).toContain(classify(outcomeOf(kind), presets[name].policy));
    }
    expect(isPresetName('quick')).toBe(true);
    expect(isPresetName('constructor')).toBe(false);
    expect(Object.keys(presets)).toEqual([...PRESET_NAMES]);
  });
});
