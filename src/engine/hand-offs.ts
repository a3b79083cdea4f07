/**
 * What was leased to this node as it was accepted, until it is recorded or given back. Where its ids begin goes into every
 * heartbeat: a store need not keep an index of these, which are most of all deliveries, to find them if this node dies.
 */
import type { Clock } from '../clock.ts';
import { floorId } from '../ids.ts';

export class HandOffs {
  readonly #clock: Clock;
  /** How many of each second are under way; one process makes ids rising, so the oldest second is the first. */
  readonly #seconds = new Map<number, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `at`: by this node's clock, before the id was made. */
  add(at: number): void {
    const second = Math.floor(at / 1000);
    this.#seconds.set(second, (this.#seconds.get(second) ?? 0) + 1);
  }

  delete(at: number): void {
    const second = Math.floor(at / 1000);
    const left = (this.#seconds.get(second) ?? 0) - 1;
    if (left > 0) this.#seconds.set(second, left);
    else this.#seconds.delete(second);
  }

  /** No hand-off under way has an id below this, and none to come will. */
  get from(): string {
    return floorId('dlv', Math.min(this.#clock.now(), ...[...this.#seconds.keys()].map((second) => second * 1000)));
  }
}
