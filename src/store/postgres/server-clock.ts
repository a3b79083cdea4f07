/**
 * Leases of nodes run by the server's clock. By their own, a node whose clock is ahead by more than a lease would see all
 * others as dead, and send again what they are sending.
 */
import type { Clock } from '../../clock.ts';

export const SERVER_NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
/** Less than this, of a lease's seconds, is not worth correcting; it is also what a slow answer looks like. */
const TOLERATED_MS = 500;

export class ServerClock {
  readonly #clock: Clock;
  #aheadMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `ask` answers the server's time; what it takes bounds how well that is known. */
  async read<R extends { server_now: number }>(ask: () => Promise<R | undefined>): Promise<R | undefined> {
    const sentAt = this.#clock.now();
    const row = await ask();
    const tookMs = this.#clock.now() - sentAt;
    if (row !== undefined && tookMs < TOLERATED_MS) {
      const aheadMs = Math.round(row.server_now - sentAt - tookMs / 2);
      this.#aheadMs = Math.abs(aheadMs) < TOLERATED_MS ? 0 : aheadMs;
    }
    return row;
  }

  /** A time of this machine's as the server has it. */
  toServer(now: number): number {
    return now + this.#aheadMs;
  }
}
