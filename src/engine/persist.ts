/**
 * A known outcome must reach the store: the write is tried again, ever more slowly, until it is taken or the engine
 * gives up at its stop. Until then the delivery stays leased to this node, so nobody sends it twice meanwhile.
 */
import { type Clock, sleep } from '../clock.ts';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5000;

export async function persist<T>(
  write: () => Promise<T>,
  clock: Clock,
  giveUp: AbortSignal,
  onTrouble: (error: unknown) => void,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      onTrouble(error);
      if (giveUp.aborted) throw error;
      await sleep(clock, pauseMs);
    }
  }
}
