/**
 * The fairness claim, in its small form. `npm run simulate` runs the same with 100,000 lanes. On PostgreSQL, where every
 * operation is a round trip, it is smaller still; POSTHORN_TEST_LONG=1 runs it there as on SQLite.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { testStore } from '../../src/testing/test-store.ts';
import { type NeighboursOptions, type NeighboursResult, runNeighbours } from './neighbours.ts';
import { type OverloadOptions, runOverload } from './overload.ts';
import { percentiles } from './percentiles.ts';
import { claimInOneQueue, claimLosesOne, claimRepeatsOne } from './planted-bugs.ts';

const IS_WHOLE = testStore() === 'sqlite' || process.env.POSTHORN_TEST_LONG !== undefined;
const TIMEOUT_MS = 300_000;

/** Enough slots for the claim to hold: with 128 the p99 was 2.06 times that of alone. At 100,000 lanes it does not hold yet. */
const SMALL: Omit<NeighboursOptions, 'bad'> = {
  seed: 1,
  lanes: IS_WHOLE ? 2000 : 500,
  maxInFlight: 224,
  laneCeiling: 16,
  deliveriesPerSecond: 400,
  seconds: IS_WHOLE ? 8 : 2,
  flooders: 5,
  floodEach: IS_WHOLE ? 1000 : 200,
};
const TINY = { ...SMALL, lanes: IS_WHOLE ? 500 : 300, seconds: IS_WHOLE ? 2 : 1, floodEach: 200, bad: true };
const OVERLOAD: Omit<OverloadOptions, 'floodEach'> = {
  seed: 1,
  lanes: IS_WHOLE ? 300 : 150,
  maxInFlight: IS_WHOLE ? 64 : 32,
  laneCeiling: 16,
  flooders: IS_WHOLE ? 10 : 5,
};

describe('bad neighbours', () => {
  let alone: NeighboursResult;
  let together: NeighboursResult;
  beforeAll(async () => {
    alone = await runNeighbours({ ...SMALL, bad: false });
    together = await runNeighbours({ ...SMALL, bad: true });
  }, TIMEOUT_MS);

  it('ALL-03 dead, slow and flooding endpoints leave the p99 of healthy ones within twice of what it is alone', () => {
    const before = percentiles(alone.latenciesMs.healthy);
    const after = percentiles(together.latenciesMs.healthy);
    const published = SMALL.seconds * SMALL.deliveriesPerSecond;
    expect(before.count).toBeGreaterThan(0.6 * published);
    expect(after.count).toBeGreaterThan(0.6 * published);
    expect(after.p99).toBeLessThanOrEqual(2 * before.p99);
  });

  it('no healthy delivery waits for more than its answer and the commits on its way', () => {
    expect(percentiles(alone.latenciesMs.healthy).max).toBeLessThanOrEqual(alone.boundMs);
    expect(percentiles(together.latenciesMs.healthy).max).toBeLessThanOrEqual(together.boundMs);
  });

  it('ALL-01 ALL-02 nothing is lost, delivered twice or beyond a limit, and the flood is worked off meanwhile', () => {
    expect([...alone.violations, ...together.violations]).toEqual([]);
    expect(together.latenciesMs.flooder).toHaveLength(SMALL.flooders * SMALL.floodEach);
  });
});

describe('overload', () => {
  it(
    'the wait of a lane depends on how many lanes have due work, not on how much they have',
    async () => {
      const few = await runOverload({ ...OVERLOAD, floodEach: 30 });
      const many = await runOverload({ ...OVERLOAD, floodEach: 200 });
      expect([...few.violations, ...many.violations]).toEqual([]);
      expect(many.waitMs.count).toBe(OVERLOAD.lanes);
      expect(many.waitMs.max).toBeLessThanOrEqual(1.1 * few.waitMs.max);
    },
    TIMEOUT_MS,
  );
});

// A server answers in an order of its own.
describe.runIf(testStore() === 'sqlite')('the same seed', () => {
  it(
    'gives the same run, event by event, and another seed another one',
    async () => {
      const first = await runNeighbours(TINY);
      const again = await runNeighbours(TINY);
      const other = await runNeighbours({ ...TINY, seed: 2 });
      expect(first.events).toBeGreaterThan(1000);
      expect(again.hash).toBe(first.hash);
      expect(other.hash).not.toBe(first.hash);
    },
    TIMEOUT_MS,
  );
});

// These show what the audit sees, whatever the store.
describe.runIf(IS_WHOLE)('a planted bug is seen', () => {
  it(
    'limits that the engine does not keep',
    async () => {
      const unlimited = { maxInFlight: 10_000, laneCeiling: 500 };
      const { violations } = await runNeighbours({ ...TINY, toldLimits: unlimited });
      expect(violations.some((each) => each.startsWith('lane limit'))).toBe(true);
      const { violations: ofNode } = await runNeighbours({ ...TINY, toldLimits: { ...TINY, maxInFlight: 10_000 } });
      expect(ofNode).toEqual([]);
      const crowded = { ...TINY, maxInFlight: 32, toldLimits: { ...TINY, maxInFlight: 10_000 } };
      const { violations: ofCrowdedNode } = await runNeighbours(crowded);
      expect(ofCrowdedNode.some((each) => each.startsWith('node limit'))).toBe(true);
    },
    TIMEOUT_MS,
  );

  it(
    'a claim that hands a delivery out twice',
    async () => {
      const { violations } = await runNeighbours({ ...TINY, plant: claimRepeatsOne });
      expect(violations.some((each) => each.startsWith('delivered twice'))).toBe(true);
    },
    TIMEOUT_MS,
  );

  it(
    'a claim that forgets a delivery',
    async () => {
      const { violations } = await runNeighbours({ ...TINY, plant: claimLosesOne });
      expect(violations.some((each) => each.startsWith('lost'))).toBe(true);
    },
    TIMEOUT_MS,
  );

  it(
    'a claim in the order of due times over all lanes',
    async () => {
      const plant = claimInOneQueue(OVERLOAD.maxInFlight);
      const few = await runOverload({ ...OVERLOAD, floodEach: 30, plant });
      const many = await runOverload({ ...OVERLOAD, floodEach: 200, plant: claimInOneQueue(OVERLOAD.maxInFlight) });
      expect(many.waitMs.max).toBeGreaterThan(3 * few.waitMs.max);
    },
    TIMEOUT_MS,
  );
});
