/** Take: lease the deliveries that a queue hands out by their ids, and tell it what became of each. */
import type { Clock } from '../clock.ts';
import type { Hands, Taken } from '../dispatch/index.ts';
import type { ClaimedDelivery, Store } from '../store/index.ts';
import { Batcher } from './batcher.ts';
import { configureLanes } from './configure-lanes.ts';
import type { Directory } from './directory.ts';
import type { JobEnd } from './lane.ts';
import type { Lanes } from './lanes.ts';

export interface TakerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly lanes: Lanes;
  readonly directory: Directory;
  readonly epoch: () => number;
  readonly onTaken: () => void;
  readonly onFenced: () => void;
  readonly onTrouble: (error: unknown) => void;
}

const MAX_LEASES_PER_COMMIT = 1000;
/**
 * How many may wait in their lanes; beyond it only what can start at once is taken. The rest of a burst is left to its
 * lanes, which claim it in larger batches and hold no job of the queue meanwhile: with 1,024, a delivery of a burst took a
 * quarter more of this process's CPU (November 2026).
 */
const MAX_WAITING = 256;
/** A fenced node joins again within a moment, and a store in trouble is not hammered. */
const PAUSE_MS = 1000;

type Leased = { readonly delivery: ClaimedDelivery; readonly epoch: number } | { readonly dueAt: number } | Unleased;

type Unleased = 'none' | 'left' | 'fenced';

export class Taker {
  readonly #options: TakerOptions;
  readonly #leases: Batcher<string, Leased>;
  #taken = 0;
  #stopped = false;

  constructor(options: TakerOptions) {
    this.#options = options;
    this.#leases = new Batcher({ maxItems: MAX_LEASES_PER_COMMIT }, (ids) => this.#lease(ids));
  }

  async take({ deliveryId, destinationId }: Parameters<NonNullable<Hands['take']>>[0]): Promise<Taken> {
    const { lanes } = this.#options;
    if (this.#stopped) return this.#later(0);
    if (!lanes.admit(destinationId, this.#taken < MAX_WAITING)) {
      lanes.leave(destinationId);
      return { kind: 'left' };
    }
    this.#taken += 1;
    try {
      const leased = await this.#leases.add(deliveryId).catch((error) => this.#failed(error));
      if (typeof leased === 'string' || !('delivery' in leased)) {
        lanes.unreserve(destinationId);
        if (leased === 'left') lanes.leave(destinationId);
        return this.#notLeased(leased);
      }
      this.#options.onTaken();
      return this.#toTaken(await new Promise((onEnd) => lanes.startReserved({ ...leased, onEnd })));
    } finally {
      this.#taken -= 1;
    }
  }

  /** Takes nothing more; resolves when what is being leased has reached its lane. */
  stop(): Promise<void> {
    this.#stopped = true;
    return this.#leases.idle();
  }

  #toTaken(end: JobEnd): Taken {
    switch (end.kind) {
      case 'recorded':
        return end;
      case 'released':
        return this.#later(0);
      case 'lost':
        return { kind: 'gone' };
    }
  }

  async #lease(ids: readonly string[]): Promise<Leased[]> {
    const epoch = this.#options.epoch();
    const { store, clock, lanes } = this.#options;
    const { fenced, deliveries, left, early } = await store.lease({
      epoch,
      now: clock.now(),
      ids,
      maxBytes: lanes.freeBytes,
    });
    if (fenced) this.#options.onFenced();
    await configureLanes(deliveries, this.#options);
    const short = new Set(left);
    const later = new Map(early.map(({ id, dueAt }) => [id, { dueAt }]));
    const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
    return ids.map((id) => {
      const delivery = byId.get(id);
      if (short.has(id)) return 'left';
      if (delivery === undefined) return fenced ? 'fenced' : (later.get(id) ?? 'none');
      // Two jobs for one delivery may come in one batch: the first has it.
      byId.delete(id);
      return { delivery, epoch };
    });
  }

  #notLeased(why: { readonly dueAt: number } | Unleased): Taken {
    if (typeof why !== 'string') return { kind: 'later', dueAt: why.dueAt };
    if (why === 'fenced') return this.#later(PAUSE_MS);
    return { kind: why === 'left' ? 'left' : 'gone' };
  }

  #failed(error: unknown): 'fenced' {
    this.#options.onTrouble(error);
    return 'fenced';
  }

  #later(pauseMs: number): Taken {
    return { kind: 'later', dueAt: this.#options.clock.now() + pauseMs };
  }
}
