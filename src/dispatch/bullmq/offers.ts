/**
 * What is on its way into the queue. Offers that arrive while one batch is being added form the next. While Redis is away
 * they wait here, up to a bound; what is beyond it is found in the store when its time has come.
 */
import type { Clock, Timer } from '../../clock.ts';
import { describeError } from '../../errors.ts';
import type { Work } from '../dispatch.ts';

export interface OffersOptions {
  readonly clock: Clock;
  /** Adds jobs; with none, only finds out whether that would work. */
  readonly add: (work: readonly Work[]) => Promise<void>;
  readonly onUp: () => void;
  /** Called once for each time that Redis goes away. */
  readonly onAway: (reason: string) => void;
}

const MAX_WAITING = 20_000;
const MAX_PER_BATCH = 500;
const TRY_AGAIN_MS = 500;

export class Offers {
  readonly #options: OffersOptions;
  #waiting: Work[] = [];
  #state: 'starting' | 'up' | 'away' | 'stopped' = 'starting';
  #running: Promise<void> | undefined;
  #timer: Timer | undefined;

  constructor(options: OffersOptions) {
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#state === 'up';
  }

  offer(work: readonly Work[]): void {
    if (this.#state === 'stopped') return;
    for (const each of work) if (this.#waiting.length < MAX_WAITING) this.#waiting.push(each);
    if (this.isUp) this.#run();
  }

  /** The connection is there: whether it can be used shows when it is. */
  connected(): void {
    if (this.#state !== 'stopped' && !this.isUp) this.#run();
  }

  lost(reason: string): void {
    if (this.#state === 'stopped' || this.#state === 'away') return;
    this.#state = 'away';
    this.#options.onAway(reason);
  }

  /** Resolves when it is known whether what was asked for last got through. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Resolves when the batch that is being added has ended. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#running;
    this.#state = 'stopped';
  }

  #run(): void {
    this.#running ??= this.#drain().finally(() => {
      this.#running = undefined;
    });
  }

  async #drain(): Promise<void> {
    // Whoever offers in this turn of the event loop shares the batch.
    await new Promise<void>((resolve) => setImmediate(resolve));
    do {
      const batch = this.#waiting.slice(0, MAX_PER_BATCH);
      try {
        await this.#options.add(batch);
      } catch (error) {
        this.lost(describeError(error));
        this.#tryAgain();
        return;
      }
      this.#waiting.splice(0, batch.length);
      this.#gotThrough();
    } while (this.#waiting.length > 0);
  }

  #gotThrough(): void {
    if (this.#state === 'up' || this.#state === 'stopped') return;
    this.#state = 'up';
    this.#options.onUp();
  }

  #tryAgain(): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(TRY_AGAIN_MS, () => this.connected());
  }
}
