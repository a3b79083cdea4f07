/** Sweep: after an endpoint stopped, resumed or was deleted, its deliveries follow, a bounded chunk at a time. */
import type { Clock } from '../clock.ts';
import type { Store } from '../store/index.ts';
import { Repeat } from './repeat.ts';

const CHUNK = 500;
const FORGET_EVERY_MS = 60_000;

export interface SweeperOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Deliveries moved: some may be due. */
  readonly onMoved: () => void;
  readonly onTrouble: (error: unknown) => void;
}

export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #passes: Repeat;
  #forgetAt = 0;

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#passes = new Repeat(options.clock, () => this.#pass(), options.onTrouble);
  }

  ask(): void {
    this.#passes.ask();
  }

  stop(): Promise<void> {
    return this.#passes.stop();
  }

  async #pass(): Promise<void> {
    const { store, clock } = this.#options;
    const now = clock.now();
    const { idle, moved } = await store.sweep({ now, limit: CHUNK });
    if (moved > 0) this.#options.onMoved();
    if (!idle) this.ask();
    if (now >= this.#forgetAt) {
      const { forgotten } = await store.forget({ now, limit: CHUNK });
      this.#forgetAt = forgotten === CHUNK ? now : now + FORGET_EVERY_MS;
    }
  }
}
