import type { Clock } from '../clock.ts';
import { PosthornError } from '../errors.ts';

export interface Waiting<T> {
  readonly read: () => Promise<T>;
  readonly isEnough: (found: T) => boolean;
  readonly waitMs: number;
  /** Whoever asked has gone, or the server stops. */
  readonly signal: AbortSignal;
}

/** How long what was just committed may stay unseen. */
const LOOK_AGAIN_MS = 250;
/** Each looks several times a second: so many cost less than the deliveries of one busy endpoint. */
const MOST_WAITING = 32;

/**
 * Looks again and again until there is enough to see, time is up or nobody waits any more. There is no state but the
 * request that waits, and what another node commits is seen as what this one does.
 */
export function createWaits(clock: Clock) {
  let waiting = 0;
  const pause = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        timer.cancel();
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = clock.after(LOOK_AGAIN_MS, wake);
      signal.addEventListener('abort', wake);
    });

  return async function waitUntil<T>({ read, isEnough, waitMs, signal }: Waiting<T>): Promise<T> {
    if (waitMs > 0 && waiting >= MOST_WAITING) {
      throw new PosthornError(
        'limit_reached',
        `${MOST_WAITING} requests wait here already: end some of them (\`posthorn listen\`), or ask without a wait`,
      );
    }
    waiting += 1;
    try {
      const until = clock.now() + waitMs;
      for (;;) {
        const found = await read();
        if (isEnough(found) || signal.aborted || clock.now() >= until) return found;
        await pause(signal);
      }
    } finally {
      waiting -= 1;
    }
  };
}
