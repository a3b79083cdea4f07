/**
 * The node's lease. One row is written every few seconds for all that this node has leased; the epoch that the store
 * gave it is the fencing token. The store's word counts: a node that was stopped longer than its lease learns at the
 * next beat, or at its next write, that others may have taken over, and joins again under a new epoch. Until that beat is
 * answered it starts nothing: what it holds may be delivered already.
 */
import type { Clock, Timer } from '../clock.ts';
import { PosthornError } from '../errors.ts';
import type { Store } from '../store/index.ts';

export interface LeaseOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly nodeName: string;
  readonly leaseMs: number;
  readonly handedFrom: () => string;
  /** Called after each beat, for duties that go with it; `leads` as the store says. */
  readonly onBeat: (leads: boolean) => void;
  readonly onFenced: () => void;
  readonly onTrouble: (error: unknown) => void;
}

export class Lease {
  readonly #options: LeaseOptions;
  #epoch: number | undefined;
  #timer: Timer | undefined;
  #rejoining: Promise<void> | undefined;
  #isDoubtful = false;
  #isAlone = false;
  #stopped = false;
  #gaveUp = false;
  #runsOutAt = 0;
  #beating: Promise<void> | undefined;
  #onRenewed: (() => void)[] = [];

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  get epoch(): number {
    if (this.#epoch === undefined)
      throw new PosthornError('not_ready', 'The engine is not started: call start() first.');
    return this.#epoch;
  }

  /** Others count on this node: nobody has had the right to take over from it yet. */
  get isFresh(): boolean {
    return this.#options.clock.now() < this.#runsOutAt;
  }

  /** No other node was alive at the last beat. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  /** Resolves when the lease is fresh again, or nobody waits for that any more. */
  async renewed(): Promise<void> {
    while (!this.isFresh && !this.#gaveUp) {
      const next = new Promise<void>((resolve) => this.#onRenewed.push(resolve));
      void this.#beat();
      await next;
    }
  }

  /** Lets go of all who wait for a fresh lease. */
  giveUp(): void {
    this.#gaveUp = true;
    for (const resolve of this.#onRenewed.splice(0)) resolve();
  }

  async start(): Promise<void> {
    await this.#join();
    this.#schedule();
  }

  /** Joins again under a new epoch, once for however many noticed. */
  fenced(): void {
    if (this.#stopped) return;
    this.#rejoining ??= this.#join()
      .then(() => this.#options.onFenced(), this.#options.onTrouble)
      .finally(() => {
        this.#rejoining = undefined;
      });
  }

  /**
   * An operation that leases got no answer: it may have leased what nobody here knows of. Under a new epoch, from the
   * next beat on, the old one runs out and all that is left in it is taken over.
   */
  doubt(): void {
    this.#isDoubtful = true;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#rejoining;
    if (this.#epoch !== undefined) await this.#options.store.leave({ epoch: this.#epoch });
  }

  async #join(): Promise<void> {
    const { store, clock, nodeName, leaseMs } = this.#options;
    const wasDoubtful = this.#isDoubtful;
    this.#isDoubtful = false;
    try {
      const now = clock.now();
      const handedFrom = this.#options.handedFrom();
      const { epoch, alone } = await store.join({ now, leaseMs, name: nodeName, handedFrom });
      this.#epoch = epoch;
      this.#isAlone = alone;
      this.#renewedFrom(now);
    } catch (error) {
      this.#isDoubtful ||= wasDoubtful;
      throw error;
    }
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.after(this.#options.leaseMs / 4, () => {
      this.#beat().then(() => this.#schedule(), this.#options.onTrouble);
    });
  }

  #renewedFrom(now: number): void {
    this.#runsOutAt = now + this.#options.leaseMs;
    for (const resolve of this.#onRenewed.splice(0)) resolve();
  }

  #beat(): Promise<void> {
    this.#beating ??= this.#beatOnce().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  async #beatOnce(): Promise<void> {
    const { store, clock, leaseMs, onTrouble } = this.#options;
    if (this.#isDoubtful) {
      this.fenced();
      await this.#rejoining;
      this.#options.onBeat(false);
      return;
    }
    try {
      const now = clock.now();
      const handedFrom = this.#options.handedFrom();
      const state = await store.heartbeat({ epoch: this.epoch, now, leaseMs, handedFrom });
      this.#isAlone = state === 'alone';
      if (state === 'fenced') this.fenced();
      else this.#renewedFrom(now);
      this.#options.onBeat(state === 'leading' || state === 'alone');
    } catch (error) {
      onTrouble(error);
    }
  }
}
