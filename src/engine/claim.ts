/** Claim: lease due deliveries for the lanes that have room, and know when to look again. */
import type { Clock } from '../clock.ts';
import type { ClaimedDelivery, Store } from '../store/index.ts';
import type { Directory } from './directory.ts';
import type { Handlers } from './handling.ts';
import type { Lanes } from './lanes.ts';
import { Repeat } from './repeat.ts';

export interface ClaimerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly lanes: Lanes;
  readonly directory: Directory;
  readonly handlers: Handlers;
  readonly epoch: () => number;
  readonly onClaimed: (count: number) => void;
  readonly onFenced: () => void;
  readonly onTrouble: (error: unknown) => void;
}

const MAX_LANES_PER_CLAIM = 64;
/** What an unknown lane gets to begin with; from then on its own limit says. */
const FIRST_ROOM = 8;
/** Wake-ups tell of due work; looking now and then anyway keeps one lost wake-up from becoming a lost delivery. */
const SAFETY_NET_MS = 5000;

export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #passes: Repeat;

  constructor(options: ClaimerOptions) {
    this.#options = options;
    this.#passes = new Repeat(options.clock, () => this.#pass(), options.onTrouble);
  }

  ask(): void {
    this.#passes.ask();
  }

  askAt(at: number): void {
    this.#passes.askAt(at);
  }

  stop(): Promise<void> {
    return this.#passes.stop();
  }

  async #pass(): Promise<void> {
    const { store, clock, lanes } = this.#options;
    const now = clock.now();
    const epoch = this.#options.epoch();
    const wanted = lanes.wants(MAX_LANES_PER_CLAIM);
    const promised = wanted.reduce((sum, { room }) => sum + room, 0);
    const roomLeft = lanes.hasMemory ? lanes.nodeRoom - promised : 0;
    const discoverable = Math.min(MAX_LANES_PER_CLAIM, Math.floor(roomLeft / FIRST_ROOM));
    const claimed = await store.claim({
      epoch,
      now,
      lanes: wanted,
      discover: { lanes: Math.max(0, discoverable), room: FIRST_ROOM },
      handlers: this.#options.handlers.ids(),
    });
    if (claimed.fenced) {
      this.#options.onFenced();
      return;
    }
    if (claimed.deliveries.length > 0) this.#options.onClaimed(claimed.deliveries.length);
    await this.#configure(claimed.deliveries);
    for (const delivery of claimed.deliveries) lanes.startClaimed({ delivery, epoch });
    for (const { destinationId, more } of claimed.lanes) lanes.setHasMore(destinationId, more);
    if (claimed.moreLanes && discoverable > 0) this.ask();
    this.askAt(Math.min(claimed.nextDueAt ?? Number.POSITIVE_INFINITY, now + SAFETY_NET_MS));
  }

  /** After a restart a lane's first deliveries are claimed, not accepted: its limits must hold for them too. */
  async #configure(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    const { directory, lanes } = this.#options;
    const seen = new Set<string>();
    for (const { applicationId, destinationId } of deliveries) {
      if (seen.has(destinationId)) continue;
      seen.add(destinationId);
      try {
        const audience = directory.peek(applicationId) ?? (await directory.audience(applicationId));
        const target = audience?.targets.get(destinationId);
        if (target !== undefined) lanes.configure(target.endpoint);
      } catch (error) {
        // They are leased by now and must reach their lane; the worker waits for the store.
        this.#options.onTrouble(error);
      }
    }
  }
}
