/** What reaches a process passes here. A stalled one (SIGSTOP, a long pause) gets it all when it goes on. */
import type { Clock } from '../../src/clock.ts';

export class Gate {
  #stalled = false;
  #waiting: (() => void)[] = [];

  get isStalled(): boolean {
    return this.#stalled;
  }

  pass(run: () => void): void {
    if (this.#stalled) this.#waiting.push(run);
    else run();
  }

  stall(): void {
    this.#stalled = true;
  }

  goOn(): void {
    this.#stalled = false;
    for (const run of this.#waiting.splice(0)) this.pass(run);
  }

  /** The process's own clock: as wrong as its machine's, and still while it is stalled. */
  clock(clock: Clock, skewMs: number): Clock {
    return {
      now: () => clock.now() + skewMs,
      after: (delayMs, run) => {
        let cancelled = false;
        const timer = clock.after(delayMs, () => this.pass(() => cancelled || run()));
        return {
          cancel() {
            cancelled = true;
            timer.cancel();
          },
        };
      },
    };
  }
}
