/** Claim: lease due deliveries for the lanes that have room, and know when to look again. */
import type { Clock } from '../clock.ts';
import type { ClaimInput, ClaimOutput, Store } from '../store/index.ts';
import { configureLanes } from './configure-lanes.ts';
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
  /** How long what is due is left to a queue that hands it out; 0 without one. */
  readonly graceMs: () => number;
  readonly onClaimed: (count: number) => void;
  readonly onFenced: () => void;
  readonly onTrouble: (error: unknown) => void;
}

const MAX_LANES_PER_CLAIM = 64;
/** Wake-ups tell of due work; looking now and then anyway keeps one lost wake-up from becoming a lost delivery. */
const SAFETY_NET_MS = 5000;
/** Behind a queue some lane is overdue by a moment at any time: looking for them together costs a fraction. */
const OVERDUE_EVERY_MS = 1000;

export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #passes: Repeat;
  /** The next pass takes all that is due, whoever was to hand it out. */
  #lookNow = false;
  #overdueAt = 0;

  constructor(options: ClaimerOptions) {
    this.#options = options;
    this.#passes = new Repeat(options.clock, () => this.#pass(), options.onTrouble);
  }

  /** A lane has room for more of what the store has for it. */
  ask(): void {
    this.#passes.ask();
  }

  /** Work became due that no queue knows of. */
  look(): void {
    this.#lookNow = true;
    this.#passes.ask();
  }

  askAt(at: number): void {
    this.#passes.askAt(at);
  }

  stop(): Promise<void> {
    return this.#passes.stop();
  }

  async #pass(): Promise<void> {
    const graceMs = this.#lookNow ? 0 : this.#options.graceMs();
    if (graceMs > 0) return this.#passBehindQueue(graceMs);
    this.#lookNow = false;
    try {
      const now = this.#options.clock.now();
      const lanes = this.#options.lanes.wants(MAX_LANES_PER_CLAIM);
      const discover = this.#options.lanes.opens(MAX_LANES_PER_CLAIM, lanes);
      const claimed = await this.#claim({ now, lanes, discover });
      if (claimed === undefined) return;
      this.#options.lanes.hasUnopened = claimed.moreLanes;
      if (claimed.more) this.look();
      this.askAt(Math.min(claimed.nextDueAt ?? Number.POSITIVE_INFINITY, now + SAFETY_NET_MS));
    } catch (error) {
      this.#lookNow = true;
      throw error;
    }
  }

  /** Full lanes ask by name for what their jobs left to them; other lanes are opened when the queue has let them down. */
  async #passBehindQueue(graceMs: number): Promise<void> {
    const now = this.#options.clock.now();
    const lanes = this.#withHandlers(this.#options.lanes.wants(MAX_LANES_PER_CLAIM));
    if (lanes.length > 0) await this.#claim({ now, lanes, discover: { lanes: 0, room: 0 } });
    if (now >= this.#overdueAt) {
      const discover = this.#options.lanes.opens(MAX_LANES_PER_CLAIM, []);
      const claimed = await this.#claim({ now: now - graceMs, lanes: [], discover });
      if (claimed === undefined) return;
      this.#options.lanes.hasUnopened = claimed.moreLanes;
      const overdueAt = Math.min((claimed.nextDueAt ?? Number.POSITIVE_INFINITY) + graceMs, now + SAFETY_NET_MS);
      this.#overdueAt = claimed.more ? now : Math.max(overdueAt, now + OVERDUE_EVERY_MS);
    }
    this.askAt(this.#overdueAt);
  }

  /** A queue cannot know which nodes have a function: handlers' lanes are claimed without it. */
  #withHandlers(wanted: ClaimInput['lanes']): ClaimInput['lanes'] {
    const ids = this.#options.handlers.ids();
    if (ids.length === 0) return wanted;
    const { lanes } = this.#options;
    const named = new Set(wanted.map(({ destinationId }) => destinationId));
    const others = ids.filter((id) => !named.has(id));
    return [...wanted, ...others.map((destinationId) => ({ destinationId, room: lanes.roomOf(destinationId) }))];
  }

  /** Undefined when this node is fenced. `more`: due lanes are left, and there is room for them. */
  async #claim(
    input: Pick<ClaimInput, 'now' | 'lanes' | 'discover'>,
  ): Promise<(Pick<ClaimOutput, 'nextDueAt' | 'moreLanes'> & { more: boolean }) | undefined> {
    const { store, lanes } = this.#options;
    const epoch = this.#options.epoch();
    const number = lanes.beginClaim();
    const claimed = await store.claim({
      epoch,
      ...input,
      handlers: this.#options.handlers.ids(),
      maxBytes: lanes.freeBytes,
    });
    if (claimed.fenced) {
      this.#options.onFenced();
      return undefined;
    }
    if (claimed.deliveries.length > 0) this.#options.onClaimed(claimed.deliveries.length);
    await configureLanes(claimed.deliveries, this.#options);
    for (const delivery of claimed.deliveries) lanes.startClaimed({ delivery, epoch });
    for (const { destinationId, more } of claimed.lanes) lanes.setHasMore(destinationId, more, number);
    const { nextDueAt, moreLanes } = claimed;
    return { nextDueAt, moreLanes, more: moreLanes && input.discover.lanes > 0 };
  }
}
