/** Work on what is due when somebody asks: for those who call it from a cron and let no engine claim by itself. */
import type { Clock } from '../clock.ts';
import type { ClaimedDelivery, Store } from '../store/index.ts';
import { configureLanes } from './configure-lanes.ts';
import type { Directory } from './directory.ts';
import type { Handlers } from './handling.ts';
import type { JobEnd } from './lane.ts';
import type { Lanes } from './lanes.ts';
import { reapOnce } from './reap.ts';
import type { Worker } from './worker.ts';

export interface WorkedOff {
  readonly claimed: number;
  readonly delivered: number;
  readonly retried: number;
  readonly failed: number;
}

export interface DueWorkOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly lanes: Lanes;
  readonly directory: Directory;
  readonly handlers: Handlers;
  readonly worker: Worker;
  readonly epoch: () => number;
  readonly onClaimed: (count: number) => void;
  readonly onTakenOver: (deliveries: readonly ClaimedDelivery[]) => void;
  readonly onFenced: () => void;
  readonly onTrouble: (error: unknown) => void;
}

export class DueWork {
  readonly #options: DueWorkOptions;
  /** Lanes that the store leaves to this node until it asks for them by name. */
  readonly #parked = new Set<string>();

  constructor(options: DueWorkOptions) {
    this.#options = options;
  }

  /** Resolves when at most `limit` deliveries, the longest due first, have been tried and recorded. */
  async work(limit: number): Promise<WorkedOff> {
    const { lanes, onClaimed } = this.#options;
    // Nobody else may be there to do it: what a process had that died is given another try first.
    await reapOnce(this.#options);
    const now = this.#options.clock.now();
    const ends: JobEnd[] = [];
    while (ends.length < limit) {
      const epoch = this.#options.epoch();
      const due = await this.#claim(epoch, now, limit - ends.length);
      if (due.length === 0) break;
      onClaimed(due.length);
      await configureLanes(due, this.#options);
      const round = due.map(
        (delivery) => new Promise<JobEnd>((onEnd) => lanes.startClaimed({ delivery, epoch, onEnd })),
      );
      ends.push(...(await Promise.all(round)));
    }
    const count = (kind: string) =>
      ends.filter((end) => end.kind === 'recorded' && end.attempt.decision.kind === kind).length;
    return { claimed: ends.length, delivered: count('delivered'), retried: count('retry'), failed: count('dead') };
  }

  /** As many as there is memory for at once. */
  async #claim(epoch: number, now: number, limit: number): Promise<ClaimedDelivery[]> {
    const { store, lanes, handlers } = this.#options;
    const due: ClaimedDelivery[] = [];
    let maxBytes = lanes.freeBytes;
    while (due.length < limit && (maxBytes > 0 || due.length === 0)) {
      const room = limit - due.length;
      const named = [...this.#parked].slice(0, 1).map((destinationId) => ({ destinationId, room }));
      const discover = { lanes: named.length === 0 ? 1 : 0, room };
      const claimed = await store.claim({ epoch, now, lanes: named, discover, handlers: handlers.ids(), maxBytes });
      if (claimed.fenced) this.#options.onFenced();
      if (claimed.lanes.length === 0) break;
      due.push(...claimed.deliveries);
      for (const { payload } of claimed.deliveries) maxBytes = Math.max(0, maxBytes - payload.length);
      for (const { destinationId, more } of claimed.lanes) {
        if (more) this.#parked.add(destinationId);
        else this.#parked.delete(destinationId);
      }
    }
    return due;
  }
}
