/** Sweep: after an endpoint stopped, resumed or was deleted, its deliveries follow, a bounded chunk at a time. */
import type { Clock } from '../clock.ts';
import type { Store } from '../store/index.ts';
import { Repeat } from './repeat.ts';

const CHUNK = 500;
const FORGET_EVERY_MS = 60_000;

interface SweeperOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Deliveries moved: some may be due. */
  readonly onMoved: () => void;
  readonly onTrouble: (error: unknown) => void;
}

export function createSweeper({ store, clock, onMoved, onTrouble }: SweeperOptions): Repeat {
  const duty: Repeat = new Repeat(clock, pass, onTrouble);
  let forgetAt = 0;

  async function pass(): Promise<void> {
    const now = clock.now();
    const { idle, moved } = await store.sweep({ now, limit: CHUNK });
    if (moved > 0) onMoved();
    if (!idle) duty.ask();
    if (now >= forgetAt) {
      const { forgotten } = await store.forget({ now, limit: CHUNK });
      forgetAt = forgotten === CHUNK ? now : now + FORGET_EVERY_MS;
    }
  }

  return duty;
}
