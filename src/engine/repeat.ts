/**
 * One duty that runs when it is asked for: never twice at the same time, and once more when it was asked for meanwhile.
 * A failing run is reported and tried again after a pause, so that a store in trouble is not hammered.
 */
import type { Clock, Timer } from '../clock.ts';

const PAUSE_AFTER_TROUBLE_MS = 500;

export class Repeat {
  readonly #clock: Clock;
  readonly #run: () => Promise<void>;
  readonly #onTrouble: (error: unknown) => void;
  #asked = false;
  #running: Promise<void> | undefined;
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #stopped = false;

  constructor(clock: Clock, run: () => Promise<void>, onTrouble: (error: unknown) => void) {
    this.#clock = clock;
    this.#run = run;
    this.#onTrouble = onTrouble;
  }

  ask(): void {
    if (this.#stopped) return;
    this.#asked = true;
    this.#running ??= this.#loop();
  }

  /** Asks at a time, unless it is asked for earlier. */
  askAt(at: number): void {
    if (this.#stopped || at >= this.#timerAt) return;
    const delayMs = at - this.#clock.now();
    if (delayMs <= 0) {
      this.ask();
      return;
    }
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = this.#clock.after(delayMs, () => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.ask();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  async #loop(): Promise<void> {
    // Whoever asks in this turn of the event loop shares the run.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#asked && !this.#stopped) {
      this.#asked = false;
      try {
        await this.#run();
      } catch (error) {
        this.#onTrouble(error);
        this.askAt(this.#clock.now() + PAUSE_AFTER_TROUBLE_MS);
      }
    }
    this.#running = undefined;
  }
}
