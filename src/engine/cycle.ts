/** Counts what was claimed, delivered, retried and failed, and says so once a second while anything happens. */
import type { Clock, Timer } from '../clock.ts';
import type { Decision } from '../model/index.ts';
import type { EngineEvent } from './engine.ts';

const CYCLE_MS = 1000;
const NOTHING = { claimed: 0, delivered: 0, retried: 0, failed: 0 };
const COUNTED_AS = { delivered: 'delivered', retry: 'retried', dead: 'failed' } as const;

export class Cycle {
  readonly #clock: Clock;
  readonly #emit: (event: EngineEvent) => void;
  #counts = { ...NOTHING };
  #timer: Timer | undefined;

  constructor(clock: Clock, emit: (event: EngineEvent) => void) {
    this.#clock = clock;
    this.#emit = emit;
  }

  claimed(count: number): void {
    this.#counts.claimed += count;
    this.#timer ??= this.#clock.after(CYCLE_MS, () => this.stop());
  }

  decided(kind: Decision['kind']): void {
    this.#counts[COUNTED_AS[kind]] += 1;
    this.#timer ??= this.#clock.after(CYCLE_MS, () => this.stop());
  }

  /** Says what is counted so far. */
  stop(): void {
    if (this.#timer === undefined) return;
    this.#timer.cancel();
    this.#timer = undefined;
    const counts = this.#counts;
    this.#counts = { ...NOTHING };
    this.#emit({ kind: 'cycle', ...counts });
  }
}
