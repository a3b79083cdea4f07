/** Time that moves only when told to. */
import type { Clock, Timer } from '../clock.ts';
import { TimerHeap } from './timer-heap.ts';

export interface ManualClock extends Clock {
  /** Moves time on and runs what has become due, in order, letting promises settle in between. */
  advance(ms: number): Promise<void>;
}

export function createManualClock(startAt = Date.UTC(2026, 0, 1)): ManualClock {
  let now = startAt;
  const timers = new TimerHeap();

  return {
    now: () => now,
    after(delayMs, run): Timer {
      return timers.add(now + Math.max(0, delayMs), run);
    },
    async advance(ms) {
      const until = now + ms;
      for (;;) {
        await turnOfTheLoop();
        const next = timers.takeUntil(until);
        if (next === undefined) break;
        now = Math.max(now, next.at);
        next.run();
      }
      now = until;
      await turnOfTheLoop();
    },
  };
}

/** Lets immediates and their promises run a few times: in-line stores answer within that. */
async function turnOfTheLoop(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
