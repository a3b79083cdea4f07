/** Time that moves only when told to. */
import type { Clock, Timer } from '../clock.ts';

export interface ManualClock extends Clock {
  /** Moves time on and runs what has become due, in order, letting promises settle in between. */
  advance(ms: number): Promise<void>;
}

export function createManualClock(startAt = Date.UTC(2026, 0, 1)): ManualClock {
  let now = startAt;
  let timers: { at: number; run: () => void }[] = [];

  return {
    now: () => now,
    after(delayMs, run): Timer {
      const timer = { at: now + Math.max(0, delayMs), run };
      timers.push(timer);
      return {
        cancel() {
          timers = timers.filter((each) => each !== timer);
        },
      };
    },
    async advance(ms) {
      const until = now + ms;
      for (;;) {
        await turnOfTheLoop();
        const next = timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers = timers.filter((each) => each !== next);
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
