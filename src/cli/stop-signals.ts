import type { Clock } from '../clock.ts';

export interface StopSignals {
  /** Resolves when the process is first asked to stop. */
  readonly first: Promise<void>;
  /** From here on signals do again what they do by themselves. */
  forget(): void;
}

/** One Ctrl-C can reach us several times: from the terminal, and from npm, which passes it on. */
const SAME_STROKE_MS = 100;

/** The first SIGTERM or SIGINT asks for a graceful end; another one, later, ends the process at once. */
export function stopSignals(clock: Clock): StopSignals {
  let firstAt: number | undefined;
  let asked: () => void;
  const first = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const onSignal = () => {
    if (firstAt === undefined) {
      firstAt = clock.now();
      asked();
    } else if (clock.now() - firstAt > SAME_STROKE_MS) {
      // process.exit would wait for the store's thread, and on Node 20 abort when that is inside SQLite.
      process.kill(process.pid, 'SIGKILL');
    }
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return {
    first,
    forget() {
      process.off('SIGTERM', onSignal);
      process.off('SIGINT', onSignal);
    },
  };
}
