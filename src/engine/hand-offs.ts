/**
 * What was leased to this node as it was accepted, until it is recorded or given back. Where its ids begin goes into every
 * heartbeat: a store need not keep an index of these, which are most of all deliveries, to find them if this node dies.
 */
import { floorId, type Ids } from '../ids.ts';

export class HandOffs {
  readonly #ids: Ids;
  /** How many of each second are under way. */
  readonly #seconds = new Map<number, number>();

  constructor(ids: Ids) {
    this.#ids = ids;
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
    // Not the time: after a step back of the clock, ids go on from the last that was made, not from the last that was told.
    const next = this.#ids.next('dlv');
    if (this.#seconds.size === 0) return next;
    const oldest = floorId('dlv', Math.min(...this.#seconds.keys()) * 1000);
    return oldest < next ? oldest : next;
  }
}
