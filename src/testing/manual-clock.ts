/** Time that moves only when told to. */
import type { Clock, Timer } from '../clock.ts';
import { TimerHeap } from './timer-heap.ts';

export interface ManualClock extends Clock {
  /** Moves time on and runs what has become due, in order, letting promises settle in between. */
  advance(ms: number): Promise<void>;
  /** Lets no time pass until this has settled, and what follows from it has run. */
  during<T>(work: Promise<T>): Promise<T>;
}

export function createManualClock(startAt = Date.UTC(2026, 0, 1)): ManualClock {
  let now = startAt;
  const timers = new TimerHeap();
  const underWay = new Set<Promise<unknown>>();

  async function settled(): Promise<void> {
    await turnOfTheLoop();
    while (underWay.size > 0) {
      await Promise.allSettled(underWay);
      await turnOfTheLoop();
    }
  }

  return {
    now: () => now,
    after(delayMs, run): Timer {
      return timers.add(now + Math.max(0, delayMs), run);
    },
    async advance(ms) {
      const until = now + ms;
      for (;;) {
        await settled();
        const next = timers.takeUntil(until);
        if (next === undefined) break;
        now = Math.max(now, next.at);
        next.run();
      }
      now = until;
      await settled();
    },
    during(work) {
      const ended = () => underWay.delete(work);
      underWay.add(work);
      work.then(ended, ended);
      return work;
    },
  };
}

/** Lets immediates and their promises run a few times: in-line stores answer within that. */
async function turnOfTheLoop(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
