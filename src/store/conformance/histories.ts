import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoreHarness } from './harness.ts';
import { History } from './history.ts';
import { Scene } from './scene.ts';

const index = fc.nat(5);
const flag = fc.boolean();

/** One step of a random history. Numbers choose among what there is when the step comes. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('accept' as const), to: index, wide: flag, leased: flag, by: index }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      by: index,
      room: fc.nat(3),
      discover: fc.nat(3),
      named: flag,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('record' as const), which: fc.nat(), what: fc.nat(6), late: flag }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), which: fc.nat(), by: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('join' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('heartbeat' as const), by: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), by: index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('takeOver' as const), by: index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 50, 500, 20_000) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('setStatus' as const), to: index, stop: flag }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sweep' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('redeliver' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('discard' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), to: index, sure: fc.nat(5) }) },
);

export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Random histories against a small model. fast-check prints the seed and the shortest history that fails. */
export function exerciseHistories(harness: StoreHarness): void {
  describe('any history', () => {
    it('makes legal transitions only, fences, counts right, loses nothing and strands nothing', {
      timeout: 120_000,
    }, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), flag, async (steps, crash) => {
          const opened = await harness.open();
          try {
            const history = await History.begin(await Scene.begin(opened));
            for (const each of steps) await history.take(each);
            expect(await history.stranded(crash)).toEqual([]);
          } finally {
            await opened.close();
          }
        }),
        { numRuns: harness.histories ?? 25 },
      );
    });
  });
}
