import { describe, expect, it } from 'vitest';
import type { ErrorKind, Outcome, Policy, ResponseOutcome } from '../model/index.ts';
import { decide } from './decide.ts';
import { parsePolicy } from './parse-policy.ts';
import { presets } from './presets.ts';
import { rejectOn, retryOn } from './rule.ts';

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0);
const publicApi = presets['public-api'].policy;

function answer(status: number, more: Partial<ResponseOutcome> = {}): Outcome {
  return { kind: 'response', status, body: '', bodyTruncated: false, durationMs: 20, ...more };
}

function failure(error: ErrorKind): Outcome {
  return { kind: 'failure', error, message: error, durationMs: 20 };
}

function decideAfter(outcome: Outcome, policy: Policy = publicApi, attempt = 1, firstAttemptAt = NOW, draw = 0) {
  return decide({ messageId: 'msg_1', deliveryId: 'dlv_1', attempt, firstAttemptAt, now: NOW, outcome }, policy, draw);
}

describe('success', () => {
  it('a 2xx is delivered, whatever the webhook-delivery header says', () => {
    expect(decideAfter(answer(200))).toEqual({ kind: 'delivered', reason: 'HTTP 200: delivered' });
    expect(decideAfter(answer(204, { webhookDelivery: 'disable' })).kind).toBe('delivered');
    expect(decideAfter(answer(202, { webhookDelivery: 'abort-message', retryAfter: '60' })).kind).toBe('delivered');
  });

  it('a 2xx on the last attempt is delivered', () => {
    expect(decideAfter(answer(200), publicApi, 6).kind).toBe('delivered');
  });

  it('SPI-05 a 3xx is delivered where redirects are success, and failed where they are failure or could not be followed', () => {
    expect(decideAfter(answer(302))).toEqual({
      kind: 'delivered',
      reason: 'HTTP 302: a redirect counts as delivered under this policy',
    });
    expect(decideAfter(answer(302), { ...publicApi, redirects: 'failure' }).kind).toBe('retry');
    expect(decideAfter(answer(302), { ...publicApi, redirects: 'follow' }).kind).toBe('retry');
    const strict: Policy = { ...publicApi, redirects: 'failure', rules: [rejectOn('3xx')] };
    expect(decideAfter(answer(302), strict)).toMatchObject({ kind: 'dead', cause: 'rejected' });
  });
});

describe('the endpoint says stop', () => {
  it('410 gives the message up and disables the endpoint, even where a rule would retry every 4xx', () => {
    const disabled = { kind: 'dead', cause: 'rejected', endpoint: 'disable', reason: 'HTTP 410: the endpoint is gone' };
    expect(decideAfter(answer(410))).toEqual(disabled);
    expect(decideAfter(answer(410, { retryAfter: '5' }), { ...publicApi, rules: [retryOn('4xx')] })).toEqual(disabled);
  });

  it('webhook-delivery: disable on a failed attempt means the same as 410', () => {
    for (const value of ['disable', ' Disable ']) {
      const decision = decideAfter(answer(503, { webhookDelivery: value, retryAfter: '5' }));
      expect(decision).toMatchObject({ kind: 'dead', cause: 'rejected', endpoint: 'disable' });
    }
  });

  it('webhook-delivery: abort-message gives up this message and leaves the endpoint alone', () => {
    const decision = decideAfter(answer(503, { webhookDelivery: 'abort-message' }));
    expect(decision).toMatchObject({ kind: 'dead', cause: 'rejected' });
    expect(decision).not.toHaveProperty('endpoint');
    expect(decideAfter(answer(410, { webhookDelivery: 'abort-message' }))).toMatchObject({ endpoint: 'disable' });
  });

  it('an unknown webhook-delivery value changes nothing', () => {
    expect(decideAfter(answer(503, { webhookDelivery: 'whatever' })).kind).toBe('retry');
  });
});

describe('Retry-After', () => {
  it('SPI-03 a 429 with Retry-After waits as long as it asks, in seconds or as a date', () => {
    expect(decideAfter(answer(429, { retryAfter: '60' }))).toEqual({
      kind: 'retry',
      delayMs: 60_000,
      source: 'retry-after',
      reason: 'HTTP 429: retry 1 of 5 in 1 min (as Retry-After asks)',
    });
    const date = 'Thu, 15 Jan 2026 12:10:00 GMT';
    expect(decideAfter(answer(429, { retryAfter: date }))).toMatchObject({ delayMs: 600_000, source: 'retry-after' });
  });

  it('SPI-03 the asked delay replaces the schedule also when it is shorter, down to 0', () => {
    expect(decideAfter(answer(429, { retryAfter: '1' }), publicApi, 5)).toMatchObject({ delayMs: 1000 });
    expect(decideAfter(answer(429, { retryAfter: '0' }))).toMatchObject({ delayMs: 0, source: 'retry-after' });
  });

  it('SPI-03 it is bounded by the cap, and says so', () => {
    expect(decideAfter(answer(429, { retryAfter: '86400' }))).toMatchObject({
      delayMs: 3_600_000,
      reason: 'HTTP 429: retry 1 of 5 in 1 h (Retry-After asked for 24 h)',
    });
    const tighter: Policy = { ...publicApi, maxDelayMs: 30_000 };
    expect(decideAfter(answer(429, { retryAfter: '86400' }), tighter)).toMatchObject({ delayMs: 30_000 });
  });

  it('SPI-03 it still counts toward the 5 retries', () => {
    expect(decideAfter(answer(429, { retryAfter: '60' }), publicApi, 6)).toMatchObject({
      kind: 'dead',
      cause: 'exhausted',
    });
  });

  it('SPI-03 a 429 without it, with garbage or with a past date follows the schedule', () => {
    expect(decideAfter(answer(429), publicApi, 2)).toMatchObject({ delayMs: 25_000, source: 'schedule' });
    for (const retryAfter of ['', 'soon', '-5', '1.5', 'Thu, 15 Jan 2026 11:59:59 GMT']) {
      expect(decideAfter(answer(429, { retryAfter }), publicApi, 2)).toMatchObject({
        delayMs: 25_000,
        source: 'schedule',
      });
    }
  });

  it('any answer that is retried is heard, one that is rejected is not', () => {
    expect(decideAfter(answer(503, { retryAfter: '7' }))).toMatchObject({ delayMs: 7000, source: 'retry-after' });
    expect(decideAfter(answer(404, { retryAfter: '7' }))).toMatchObject({ kind: 'dead', cause: 'rejected' });
  });

  it('a policy may ignore it', () => {
    const deaf: Policy = { ...publicApi, retryAfter: { honour: false, capMs: 1 } };
    expect(decideAfter(answer(429, { retryAfter: '60' }), deaf)).toMatchObject({ delayMs: 5000, source: 'schedule' });
  });
});

describe('giving up', () => {
  it('the reason tells a person what happened and what follows', () => {
    expect(decideAfter(answer(503), publicApi, 2)).toMatchObject({ reason: 'HTTP 503: retry 2 of 5 in 25 s' });
    expect(decideAfter(answer(404))).toMatchObject({ reason: 'HTTP 404: not retried by this policy' });
    expect(decideAfter(failure('timeout'), publicApi, 6)).toMatchObject({
      reason: 'attempts exhausted (6 of 6): timeout',
    });
    expect(decideAfter(failure('connection_refused'))).toMatchObject({
      reason: 'connection refused: retry 1 of 5 in 5 s',
    });
  });

  it('exhaustion does to the endpoint what the policy says', () => {
    const exhausted = (onExhausted: Policy['onExhausted']) =>
      decideAfter(answer(500), { ...publicApi, onExhausted }, 6);
    expect(exhausted('keep')).not.toHaveProperty('endpoint');
    expect(exhausted('fail')).toHaveProperty('endpoint', 'fail');
    expect(exhausted('fail-when-silent')).toHaveProperty('endpoint', 'fail-when-silent');
  });

  it('a rejection leaves the endpoint alone', () => {
    expect(decideAfter(answer(404))).not.toHaveProperty('endpoint');
    expect(decideAfter(failure('blocked_address'))).toEqual({
      kind: 'dead',
      cause: 'rejected',
      reason: 'blocked address: not retried by this policy',
    });
  });

  it('no attempt starts after the window, counted from the first attempt', () => {
    const policy: Policy = { ...publicApi, windowMs: 60_000 };
    expect(decideAfter(answer(500), policy, 2, NOW - 35_000)).toMatchObject({ kind: 'retry', delayMs: 25_000 });
    expect(decideAfter(answer(500), policy, 2, NOW - 35_001)).toEqual({
      kind: 'dead',
      cause: 'exhausted',
      endpoint: 'fail',
      reason: 'time exhausted (attempt 3 would start after the 1 min window): HTTP 500',
    });
    expect(decideAfter(answer(429, { retryAfter: '61' }), policy)).toMatchObject({ kind: 'dead', cause: 'exhausted' });
  });
});

describe('an interrupted attempt', () => {
  it('that uses up none of the policy says so, and names no number of a retry', () => {
    const facts = {
      messageId: 'msg_1',
      deliveryId: 'dlv_1',
      attempt: 0,
      firstAttemptAt: NOW,
      now: NOW,
      uncounted: true,
    };
    expect(decide({ ...facts, outcome: failure('interrupted') }, publicApi, 0)).toEqual({
      kind: 'retry',
      delayMs: 0,
      source: 'interrupted',
      reason: 'interrupted: sent again, not counted',
    });
  });

  it('is retried at once', () => {
    expect(decideAfter(failure('interrupted'), publicApi, 3)).toEqual({
      kind: 'retry',
      delayMs: 0,
      source: 'interrupted',
      reason: 'interrupted: retry 3 of 5 at once',
    });
  });

  it('counts as an attempt, so that a delivery that kills its sender ends', () => {
    expect(decideAfter(failure('interrupted'), publicApi, 6)).toMatchObject({ kind: 'dead', cause: 'exhausted' });
  });
});

describe('rules', () => {
  it('the first rule that matches decides, by status, class, range or error kind', () => {
    const policy: Policy = { ...publicApi, rules: [retryOn(404), rejectOn('4xx', '520-527', 'tls'), retryOn('tls')] };
    expect(decideAfter(answer(404), policy).kind).toBe('retry');
    expect(decideAfter(answer(405), policy).kind).toBe('dead');
    expect(decideAfter(answer(519), policy).kind).toBe('retry');
    expect(decideAfter(answer(520), policy).kind).toBe('dead');
    expect(decideAfter(answer(527), policy).kind).toBe('dead');
    expect(decideAfter(answer(528), policy).kind).toBe('retry');
    expect(decideAfter(failure('tls'), policy).kind).toBe('dead');
  });

  it('what no rule names is retried, except what can never work', () => {
    const bare: Policy = { ...publicApi, rules: [] };
    for (const outcome of [answer(404), answer(999), failure('malformed_response'), failure('tls')]) {
      expect(decideAfter(outcome, bare).kind).toBe('retry');
    }
    for (const kind of ['blocked_address', 'permanent', 'validation', 'unknown_event_type', 'duplicate'] as const) {
      expect(decideAfter(failure(kind), bare)).toMatchObject({ kind: 'dead', cause: 'rejected' });
    }
    expect(decideAfter(failure('blocked_address'), { ...bare, rules: [retryOn('blocked_address')] }).kind).toBe(
      'retry',
    );
  });
});

it("SPI-14 an endpoint's own schedule is followed", () => {
  const own = parsePolicy({ extends: 'public-api', schedule: { kind: 'explicit', delaysMs: [10_000, 90_000] } }, []);
  const exact: Policy = { ...own, jitter: { kind: 'none' } };
  expect(decideAfter(answer(500), exact, 1)).toMatchObject({ delayMs: 10_000 });
  expect(decideAfter(answer(500), exact, 2)).toMatchObject({ delayMs: 90_000 });
  expect(decideAfter(answer(500), exact, 3)).toMatchObject({ kind: 'dead', endpoint: 'fail' });
});
