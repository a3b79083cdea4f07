/**
 * Duties that one node does for all: the leader, which the store names at each beat. While leadership passes from one
 * node to another two may believe in it for a beat, so a duty must do no harm when two do it at once.
 */
import type { Clock } from '../clock.ts';
import { describeError } from '../errors.ts';

export interface LeaderDuty {
  /** Completes the sentence "… failed". */
  readonly name: string;
  readonly everyMs: number;
  /** Does all there is to do. The signal tells it to come to an end: the node stops, or no longer leads. */
  run(signal: AbortSignal): Promise<void>;
}

export interface LeaderOptions {
  readonly clock: Clock;
  readonly duties: readonly LeaderDuty[];
  readonly onTrouble: (error: unknown) => void;
}

/** What failed is tried again sooner than its turn, and not at every beat. */
const RETRY_MS = 60_000;

export class Leader {
  readonly #options: LeaderOptions;
  readonly #dueAt = new Map<LeaderDuty, number>();
  readonly #running = new Map<LeaderDuty, Promise<void>>();
  #term: AbortController | undefined;
  #isStopped = false;

  constructor(options: LeaderOptions) {
    this.#options = options;
  }

  beat(leads: boolean): void {
    if (this.#isStopped) return;
    if (!leads) {
      this.#term?.abort();
      this.#term = undefined;
      return;
    }
    this.#term ??= new AbortController();
    const now = this.#options.clock.now();
    for (const duty of this.#options.duties) {
      if (this.#running.has(duty) || now < (this.#dueAt.get(duty) ?? 0)) continue;
      this.#running.set(duty, this.#run(duty, this.#term.signal));
    }
  }

  /** Resolves when what is under way has come to its end. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#term?.abort();
    await Promise.all(this.#running.values());
  }

  async #run(duty: LeaderDuty, signal: AbortSignal): Promise<void> {
    const { clock, onTrouble } = this.#options;
    const startedAt = clock.now();
    try {
      await duty.run(signal);
      this.#dueAt.set(duty, startedAt + duty.everyMs);
    } catch (error) {
      this.#dueAt.set(duty, clock.now() + Math.min(duty.everyMs, RETRY_MS));
      onTrouble(new Error(`${duty.name} failed: ${describeError(error)}`, { cause: error }));
    } finally {
      this.#running.delete(duty);
    }
  }
}
