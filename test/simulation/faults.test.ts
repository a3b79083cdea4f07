/**
 * Seeded faults, in their small form. `npm run simulate -- --seeds 1000` runs more of them. On PostgreSQL, where every
 * operation is a round trip, a few; POSTHORN_TEST_LONG=1 runs as many there as on SQLite.
 */
import { describe, expect, it } from 'vitest';
import { testStore } from '../../src/testing/test-store.ts';
import { runFaults } from './faults.ts';
import { claimLosesAll } from './planted-bugs.ts';

const IS_WHOLE = testStore() === 'sqlite' || process.env.POSTHORN_TEST_LONG !== undefined;
const SEEDS = Array.from({ length: IS_WHOLE ? 60 : 3 }, (_, index) => index + 1);

describe('a store in trouble and stalled nodes', () => {
  it('ALL-01 ALL-02 BUD-07 lose nothing that was accepted, fence what was lost, and let every delivery end', async () => {
    let troubles = 0;
    for (const seed of SEEDS) {
      const run = await runFaults(seed);
      expect({ seed, violations: run.violations }).toEqual({ seed, violations: [] });
      expect(run.accepted).toBeGreaterThan(0);
      troubles += run.troubles;
    }
    expect(troubles).toBeGreaterThan(SEEDS.length);
  }, 600_000);

  // A server answers in an order of its own.
  it.runIf(testStore() === 'sqlite')(
    'the same seed gives the same run',
    async () => {
      expect(await runFaults(1)).toEqual(await runFaults(1));
    },
    120_000,
  );

  // This shows what the ledger sees, whatever the store.
  it.runIf(IS_WHOLE)(
    'a planted bug is seen: a claim that forgets what it leased',
    async () => {
      const { violations } = await runFaults(1, claimLosesAll);
      expect(violations.some((each) => each.startsWith('never ended'))).toBe(true);
    },
    120_000,
  );
});
