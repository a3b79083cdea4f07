/** Sweep: after an endpoint stopped, resumed or was deleted, its deliveries follow, a bounded chunk at a time. */
import type { Clock } from '../clock.ts';
import type { Store } from '../store/index.ts';
import { Repeat } from './repeat.ts';

const CHUNK = 500;

interface SweeperOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Deliveries moved: some may be due. */
  readonly onMoved: () => void;
  readonly onTrouble: (error: unknown) => void;
}

export function createSweeper({ store, clock, onMoved, onTrouble }: SweeperOptions): Repeat {
  const duty: Repeat = new Repeat(clock, pass, onTrouble);

  async function pass(): Promise<void> {
    const { idle, moved } = await store.sweep({ now: clock.now(), limit: CHUNK });
    if (moved > 0) onMoved();
    if (!idle) duty.ask();
  }

  return duty;
}
