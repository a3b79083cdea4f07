/**
 * Deliveries that a broken connection may have left leased to this node without its knowing: the commit was sent, its
 * answer never came. Nobody works on them, and as long as the node lives nobody takes them over. They are given back
 * before the node leases anything else; what was not leased after all is not touched by that.
 */
import type { Db } from './driver.ts';
import { release } from './release.ts';

export class Unanswered {
  readonly #ids = new Map<number, Set<string>>();

  add(epoch: number, ids: readonly string[]): void {
    if (ids.length === 0) return;
    this.#ids.set(epoch, new Set([...(this.#ids.get(epoch) ?? []), ...ids]));
  }

  async giveBack(db: Db, now: number): Promise<void> {
    for (const [epoch, ids] of this.#ids) {
      this.#ids.delete(epoch);
      try {
        await release(db, { epoch, now, ids: [...ids] });
      } catch (error) {
        this.add(epoch, [...ids]);
        throw error;
      }
    }
  }
}
