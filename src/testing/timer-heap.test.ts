import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TimerHeap } from './timer-heap.ts';

describe('timer heap', () => {
  it('gives timers by time, those of one instant in the order they were set, and no cancelled one', () => {
    const timer = fc.record({ at: fc.integer({ min: 0, max: 20 }), cancel: fc.boolean() });
    fc.assert(
      fc.property(fc.array(timer), fc.integer({ min: 0, max: 20 }), (timers, until) => {
        const heap = new TimerHeap();
        const ran: number[] = [];
        const handles = timers.map(({ at }, index) => heap.add(at, () => ran.push(index)));
        for (const [index, { cancel }] of timers.entries()) if (cancel) handles[index]?.cancel();
        for (let next = heap.takeUntil(until); next !== undefined; next = heap.takeUntil(until)) next.run();
        const expected = timers
          .map(({ at, cancel }, index) => ({ at, cancel, index }))
          .filter(({ at, cancel }) => !cancel && at <= until)
          .sort((a, b) => a.at - b.at || a.index - b.index);
        expect(ran).toEqual(expected.map(({ index }) => index));
      }),
    );
  });
});
