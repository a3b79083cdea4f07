/**
 * What must reach the store, or be known from it, is tried again, ever more slowly, until it works or the engine gives up
 * at its stop. Until then the delivery stays leased to this node, so nobody sends it twice meanwhile.
 */
import type { Clock } from '../clock.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5000;

export async function persist<T>(
  operation: () => Promise<T>,
  clock: Clock,
  giveUp: AbortSignal,
  onTrouble: (error: unknown) => void,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await operation();
    } catch (error) {
      onTrouble(error);
      if (giveUp.aborted) throw error;
      await pause(clock, pauseMs, giveUp);
    }
  }
}

/** Waits, or until the signal; leaves neither a timer nor a listener behind, however often it is called. */
function pause(clock: Clock, pauseMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.after(pauseMs, end);
    signal.addEventListener('abort', end);
  });
}
