/**
 * What must reach the store, or be known from it, is tried again, ever more slowly, until it works or the engine gives up
 * at its stop. Until then the delivery stays leased to this node, so nobody sends it twice meanwhile.
 */
import { type Clock, sleep } from '../clock.ts';

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
      await Promise.race([sleep(clock, pauseMs), aborted(giveUp)]);
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
