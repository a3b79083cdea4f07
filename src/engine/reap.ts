/** Reap: what a dead or stalled node had leased is taken over, counted as an interrupted attempt, and decided on. */
import type { Clock } from '../clock.ts';
import type { Store } from '../store/index.ts';
import { Repeat } from './repeat.ts';
import type { Worker } from './worker.ts';

const MAX_TAKEN_AT_ONCE = 500;
const MESSAGE = 'the process that held this delivery died or stalled: it may have been sent, or not';

export interface ReaperOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly worker: Worker;
  readonly epoch: () => number;
  readonly onTrouble: (error: unknown) => void;
}

export class Reaper {
  readonly #options: ReaperOptions;
  readonly #passes: Repeat;

  constructor(options: ReaperOptions) {
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
    const { store, clock, worker } = this.#options;
    const epoch = this.#options.epoch();
    const taken = await store.takeOver({ epoch, now: clock.now(), limit: MAX_TAKEN_AT_ONCE });
    await Promise.all(taken.map((delivery) => worker.interrupt({ delivery, epoch }, MESSAGE)));
    if (taken.length === MAX_TAKEN_AT_ONCE) this.ask();
  }
}
