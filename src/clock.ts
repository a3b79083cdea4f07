/**
 * The only door to time. The engine takes a Clock, so that the whole of it runs in virtual time in tests
 * (testing/manual-clock.ts) and nothing else in `src` may call Date.now or setTimeout.
 */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `run` once after `delayMs`. A pending timer does not keep the process alive. */
  after(delayMs: number, run: () => void): Timer;
}

/** Node's timers overflow at 2^31 ms and then fire at once: longer waits are cut, and whoever waits looks again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const handle = setTimeout(run, Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS));
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}
