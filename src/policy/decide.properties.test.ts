import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Condition, ERROR_KINDS, type Outcome, type Policy } from '../model/index.ts';
import { decide } from './decide.ts';
import { jitteredDelay } from './jitter.ts';
import { parsePolicy } from './parse-policy.ts';
import { rejectOn, retryOn } from './rule.ts';
import { maxAttempts, retriesOf, scheduledDelay } from './schedule.ts';
import { simulate } from './simulate.ts';

const delayMs = fc.integer({ min: 1, max: 30 * 86_400_000 });

const schedule: fc.Arbitrary<Policy['schedule']> = fc.oneof(
  fc.record({ kind: fc.constant('explicit' as const), delaysMs: fc.array(delayMs, { maxLength: 100 }) }),
  fc
    .record({
      kind: fc.constant('exponential' as const),
      baseMs: delayMs,
      factor: fc.double({ min: 1, max: 100, noNaN: true }),
      capMs: delayMs,
      retries: fc.integer({ min: 0, max: 100 }),
    })
    .map((one) => ({ ...one, capMs: Math.max(one.baseMs, one.capMs) })),
);

const jitter: fc.Arbitrary<Policy['jitter']> = fc.oneof(
  fc.constantFrom({ kind: 'none' as const }, { kind: 'full' as const }),
  fc.record({
    kind: fc.constant('proportional' as const),
    below: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
    above: fc.integer({ min: 0, max: 1000 }).map((percent) => percent / 100),
  }),
  fc.record({ kind: fc.constant('additive' as const), maxMs: delayMs }),
  fc.record({ kind: fc.constant('hash' as const), basisPoints: fc.integer({ min: 0, max: 10_000 }) }),
);

const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.constantFrom(429, 500, 404, '3xx', '4xx', '5xx', '520-527'),
  fc.constantFrom(...ERROR_KINDS),
);

const policy: fc.Arbitrary<Policy> = fc.record({
  schedule,
  jitter,
  retryBudget: fc.integer({ min: 0, max: 100 }),
  timeouts: fc.record({
    connectMs: fc.integer({ min: 1, max: 600_000 }),
    totalMs: fc.integer({ min: 1, max: 600_000 }),
  }),
  rules: fc.array(
    fc
      .tuple(fc.boolean(), fc.array(condition, { minLength: 1, maxLength: 4 }))
      .map(([retried, when]) => (retried ? retryOn(...when) : rejectOn(...when))),
    { maxLength: 4 },
  ),
  redirects: fc.constantFrom('success', 'follow', 'failure'),
  retryAfter: fc.record({ honour: fc.boolean(), capMs: delayMs }),
  windowMs: fc.oneof(fc.constant(0), delayMs),
  maxDelayMs: delayMs,
  onExhausted: fc.constantFrom('keep', 'fail', 'fail-when-silent'),
});

const header = fc.oneof(
  fc.string(),
  fc.nat().map(String),
  fc.constantFrom('disable', 'abort-message', 'Sun Nov  6 08:49:37 2094'),
);

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record(
    {
      kind: fc.constant('response' as const),
      status: fc.oneof(fc.integer({ min: 100, max: 999 }), fc.integer()),
      retryAfter: header,
      webhookDelivery: header,
      body: fc.string(),
      bodyTruncated: fc.boolean(),
      durationMs: fc.nat(),
    },
    { requiredKeys: ['kind', 'status', 'body', 'bodyTruncated', 'durationMs'] },
  ),
  fc.record({
    kind: fc.constant('failure' as const),
    error: fc.constantFrom(...ERROR_KINDS),
    message: fc.string(),
    durationMs: fc.nat(),
  }),
);

const draw = fc.integer({ min: 0, max: 2 ** 48 - 1 }).map((bits) => bits / 2 ** 48);
const key = fc.record({ messageId: fc.string(), deliveryId: fc.string(), attempt: fc.integer({ min: 1, max: 101 }) });
const times = fc.record({ firstAttemptAt: fc.nat(), now: fc.nat({ max: 2 ** 42 }) });
const facts = fc.tuple(key, times, outcome).map(([ids, at, what]) => ({ ...ids, ...at, outcome: what }));

describe('decide, for any policy and any outcome', () => {
  it('never throws, always gives a reason, and never asks for a negative, endless or too long wait', () => {
    fc.assert(
      fc.property(facts, policy, draw, (known, rules, luck) => {
        const decision = decide(known, rules, luck);
        expect(decision.reason).not.toBe('');
        if (decision.kind !== 'retry') return;
        expect(Number.isSafeInteger(decision.delayMs) && decision.delayMs >= 0).toBe(true);
        expect(decision.delayMs).toBeLessThanOrEqual(rules.maxDelayMs);
        if (decision.source === 'retry-after') expect(decision.delayMs).toBeLessThanOrEqual(rules.retryAfter.capMs);
        if (decision.source === 'schedule') expect(decision.delayMs).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });

  it('2xx and nothing but an allowed 3xx is delivered', () => {
    fc.assert(
      fc.property(facts, policy, draw, (known, rules, luck) => {
        const status = known.outcome.kind === 'response' ? known.outcome.status : 0;
        const accepted = status >= 200 && status <= (rules.redirects === 'success' ? 399 : 299);
        expect(decide(known, rules, luck).kind === 'delivered').toBe(accepted);
      }),
    );
  });

  it('never plans an attempt beyond the maximum or after the window', () => {
    fc.assert(
      fc.property(facts, policy, draw, (known, rules, luck) => {
        const decision = decide(known, rules, luck);
        if (decision.kind !== 'retry') return;
        expect(known.attempt).toBeLessThan(maxAttempts(rules));
        if (rules.windowMs > 0) {
          expect(known.now + decision.delayMs).toBeLessThanOrEqual(known.firstAttemptAt + rules.windowMs);
        }
      }),
    );
  });

  it('is a function of its arguments alone', () => {
    fc.assert(
      fc.property(facts, policy, draw, (known, rules, luck) => {
        expect(decide(structuredClone(known), structuredClone(rules), luck)).toEqual(decide(known, rules, luck));
      }),
    );
  });

  it('BUD-04 a whole outage never costs more attempts than the schedule and the budget allow', () => {
    fc.assert(
      fc.property(
        policy,
        fc.constantFrom('timeout' as const, 'interrupted' as const, 503),
        fc.nat(),
        (rules, failure, seed) => {
          const { attempts } = simulate(rules, { outageMs: Number.POSITIVE_INFINITY, failure, seed });
          expect(attempts.length).toBeLessThanOrEqual(retriesOf(rules.schedule) + 1);
          if (rules.retryBudget > 0) expect(attempts.length).toBeLessThanOrEqual(rules.retryBudget + 1);
        },
      ),
    );
  });
});

describe('delays, for any policy', () => {
  it('BUD-03 a jittered delay is a positive whole number within the cap', () => {
    fc.assert(
      fc.property(policy, key, draw, (rules, which, luck) => {
        const delay = jitteredDelay(rules, which, luck);
        expect(Number.isSafeInteger(delay) && delay >= 1).toBe(true);
        expect(delay).toBeLessThanOrEqual(rules.maxDelayMs);
      }),
    );
  });

  it('jitter stays within its own range around the schedule', () => {
    fc.assert(
      fc.property(policy, key, draw, (rules, which, luck) => {
        const free = { ...rules, maxDelayMs: Number.MAX_SAFE_INTEGER };
        const plain = scheduledDelay(free, which.attempt);
        const delay = jitteredDelay(free, which, luck);
        const [lowest, highest] = range(rules.jitter, plain);
        expect(delay).toBeGreaterThanOrEqual(Math.max(1, lowest - 1));
        expect(delay).toBeLessThanOrEqual(Math.max(1, highest + 1));
      }),
    );
  });

  it('BUD-02 the hash jitter is the same for the same input, whatever is drawn', () => {
    const hashed = fc.tuple(policy, fc.integer({ min: 0, max: 10_000 }));
    fc.assert(
      fc.property(hashed, key, draw, draw, ([rules, basisPoints], which, one, other) => {
        const same: Policy = { ...rules, jitter: { kind: 'hash', basisPoints } };
        expect(jitteredDelay(same, { ...which }, one)).toBe(jitteredDelay(same, { ...which }, other));
      }),
    );
  });

  it('a higher cap never shortens a delay, and exponential delays never fall', () => {
    fc.assert(
      fc.property(policy, key, draw, delayMs, (rules, which, luck, more) => {
        const higher = { ...rules, maxDelayMs: rules.maxDelayMs + more };
        expect(jitteredDelay(higher, which, luck)).toBeGreaterThanOrEqual(jitteredDelay(rules, which, luck));
        if (rules.schedule.kind !== 'exponential') return;
        expect(scheduledDelay(rules, which.attempt + 1)).toBeGreaterThanOrEqual(scheduledDelay(rules, which.attempt));
      }),
    );
  });

  it('every one of these policies survives JSON and parsing unchanged', () => {
    fc.assert(
      fc.property(policy, (rules) => {
        expect(parsePolicy(JSON.parse(JSON.stringify(rules)), [])).toEqual(rules);
      }),
    );
  });
});

function range(kind: Policy['jitter'], plain: number): [number, number] {
  switch (kind.kind) {
    case 'none':
      return [plain, plain];
    case 'full':
      return [0, plain];
    case 'additive':
      return [plain, plain + kind.maxMs];
    case 'proportional':
      return [plain * (1 - kind.below), plain * (1 + kind.above)];
    case 'hash':
      return [plain * (1 - kind.basisPoints / 10_000), plain * (1 + kind.basisPoints / 10_000)];
  }
}
