/**
 * What was leased to this node as it was accepted, until it is recorded or given back. Its oldest id goes into every
 * heartbeat: a store need not keep an index of these, which are most of all deliveries, to find them if this node dies.
 */
import type { Clock } from '../clock.ts';
import { floorId } from '../ids.ts';

export class HandOffs {
  readonly #clock: Clock;
  /** In the order of their ids: one process makes them rising. */
  readonly #ids = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(deliveryId: string): void {
    this.#ids.add(deliveryId);
  }

  delete(deliveryId: string): void {
    this.#ids.delete(deliveryId);
  }

  /** No hand-off under way has an id below this, and none to come will. */
  get from(): string {
    for (const oldest of this.#ids) return oldest;
    return floorId('dlv', this.#clock.now());
  }
}
