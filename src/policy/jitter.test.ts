import { describe, expect, it } from 'vitest';
import type { Jitter, Policy } from '../model/index.ts';
import { hashFraction } from './hash-fraction.ts';
import { jitteredDelay } from './jitter.ts';
import { outbox, presets } from './presets.ts';
import { scheduledDelay } from './schedule.ts';

const ALMOST_ONE = 1 - 2 ** -48;

function key(index: number, attempt = 3) {
  return { messageId: `msg_${index}`, deliveryId: `dlv_${index * 7}`, attempt };
}

function withJitter(jitter: Jitter): Policy {
  return { ...presets['multi-day'].policy, jitter };
}

/** Counts per bucket, and how far they are from equal (chi-square). */
function chiSquare(fractions: readonly number[], buckets: number): number {
  const counts = new Array<number>(buckets).fill(0);
  for (const fraction of fractions) {
    const at = Math.floor(fraction * buckets);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const expected = fractions.length / buckets;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

describe('the hash jitter', () => {
  it('BUD-01 at 0 basis points leaves the schedule untouched', () => {
    const policy = outbox({ jitterBasisPoints: 0 });
    for (let attempt = 1; attempt <= 9; attempt++) {
      expect(jitteredDelay(policy, key(attempt, attempt), 0.7)).toBe(scheduledDelay(policy, attempt));
    }
  });

  it('BUD-02 is the same for the same ids and attempt on every machine, whatever the random draw', () => {
    const policy = outbox({ jitterBasisPoints: 2000 });
    const same = { messageId: 'msg_a', deliveryId: 'dlv_b', attempt: 1 };
    // Written down so that a changed hash, which would move every planned retry, cannot pass unnoticed.
    expect(jitteredDelay(policy, same, 0)).toBe(5742);
    expect(jitteredDelay(policy, { ...same }, 0.99)).toBe(5742);
    expect(hashFraction('')).toBe(0.65907546104915);
    expect(hashFraction('msg_a|dlv_b|1')).toBe(0.8710219205690773);
  });

  it('BUD-02 differs by message, by delivery and by attempt', () => {
    const policy = outbox({ jitterBasisPoints: 10_000 });
    const delay = (messageId: string, deliveryId: string, attempt: number) =>
      jitteredDelay(policy, { messageId, deliveryId, attempt }, 0) / scheduledDelay(policy, attempt);
    const base = delay('msg_1', 'dlv_1', 3);
    expect(delay('msg_2', 'dlv_1', 3)).not.toBe(base);
    expect(delay('msg_1', 'dlv_2', 3)).not.toBe(base);
    expect(delay('msg_1', 'dlv_1', 4)).not.toBe(base);
  });

  it('BUD-02 spreads evenly over the whole range, also for ids that differ in one character', () => {
    const fractions = Array.from({ length: 20_000 }, (_, index) => hashFraction(`msg_${index}|dlv_${index}|1`));
    // 99.9th percentile of chi-square with 63 degrees of freedom.
    expect(chiSquare(fractions, 64)).toBeLessThan(103.4);
    const low = fractions.map((fraction) => (fraction * 2 ** 32) % 1);
    expect(chiSquare(low, 64)).toBeLessThan(103.4);
    const attempts = Array.from({ length: 6400 }, (_, index) => hashFraction(`msg_1|dlv_1|${index}`));
    expect(chiSquare(attempts, 64)).toBeLessThan(103.4);

    const policy = outbox({ jitterBasisPoints: 2000 });
    const delays = Array.from({ length: 5000 }, (_, index) => jitteredDelay(policy, key(index), 0));
    expect(Math.min(...delays)).toBeLessThan(20_000 * 0.805);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(20_000 * 0.8);
    expect(Math.max(...delays)).toBeGreaterThan(20_000 * 1.195);
    expect(Math.max(...delays)).toBeLessThanOrEqual(20_000 * 1.2);
  });

  it("BUD-03 stays positive at full range and never passes the schedule's cap or maxDelayMs", () => {
    const policy: Policy = {
      ...outbox({ jitterBasisPoints: 10_000 }),
      schedule: { kind: 'exponential', baseMs: 1, factor: 2, capMs: 900, retries: 20 },
    };
    for (let index = 0; index < 2000; index++) {
      for (const attempt of [1, 5, 20]) {
        const delay = jitteredDelay(policy, key(index, attempt), 0);
        expect(delay).toBeGreaterThanOrEqual(1);
        expect(delay).toBeLessThanOrEqual(900);
        expect(jitteredDelay({ ...policy, maxDelayMs: 40 }, key(index, attempt), 0)).toBeLessThanOrEqual(40);
      }
    }
  });
});

describe('the other jitters', () => {
  it('none leaves the schedule, up to maxDelayMs', () => {
    expect(jitteredDelay(withJitter({ kind: 'none' }), key(1, 1), 0.9)).toBe(5000);
    expect(jitteredDelay({ ...withJitter({ kind: 'none' }), maxDelayMs: 10 }, key(1, 1), 0.9)).toBe(10);
  });

  it('proportional reaches from below, included, to above, excluded', () => {
    const policy = withJitter({ kind: 'proportional', below: 0.2, above: 0.2 });
    expect(jitteredDelay(policy, key(1, 1), 0)).toBe(4000);
    expect(jitteredDelay(policy, key(1, 1), 0.5)).toBe(5000);
    expect(jitteredDelay(policy, key(1, 1), ALMOST_ONE)).toBe(5999);
    const whole = withJitter({ kind: 'proportional', below: 1, above: 0 });
    expect(jitteredDelay(whole, key(1, 1), 0)).toBe(1);
  });

  it('full is never 0 and reaches the delay itself', () => {
    const policy = withJitter({ kind: 'full' });
    expect(jitteredDelay(policy, key(1, 1), 0)).toBe(5000);
    expect(jitteredDelay(policy, key(1, 1), 0.75)).toBe(1250);
    expect(jitteredDelay(policy, key(1, 1), ALMOST_ONE)).toBe(1);
  });
});
