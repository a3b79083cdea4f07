/**
 * One destination's queue as this node sees it: how much is in flight, how much may be, what is leased and waits in
 * memory, and whether the store has more.
 *
 * The limit finds itself: it starts small, grows by one with every success and halves with every failure. A dead
 * endpoint holds one slot, a fast one as many as it can use.
 */
import { Fifo } from '../fifo.ts';
import type { Attempt } from '../model/index.ts';
import type { ClaimedDelivery } from '../store/index.ts';

/** A leased delivery on its way through this node. */
export interface Job {
  readonly delivery: ClaimedDelivery;
  readonly epoch: number;
  /** When it was leased as it was accepted, by this node's clock; without it, it was claimed. */
  readonly handedAt?: number;
  /** Another process had it, which died or stalled. */
  readonly takenOver?: true;
  /** While it holds one of the node's slots: how its lane stood when it got it. */
  slot?: Standing | undefined;
  /** Called once, when nothing more will be done with it here: for who handed it out. */
  readonly onEnd?: (end: JobEnd) => void;
}

export type Standing = 'unknown' | 'proven' | 'failing';

export type JobEnd =
  | {
      readonly kind: 'recorded';
      readonly attempt: Attempt;
      readonly scheduleAttempts: number;
      readonly maxAttempts: number;
    }
  /** Given back: nothing was sent. */
  | { readonly kind: 'released' }
  /** The lease is another node's, or ends with this process. */
  | { readonly kind: 'lost' };

const FIRST_LIMIT = 4;
/** Deliveries leased per request that may be in flight: with fewer, a fast endpoint waits for the disk. */
const LEASED_PER_SLOT = 8;
/** Short, because until the first is over what is accepted waits in the store. */
const PACE_WINDOW_MS = 100;
/** How long what a lane has shown holds while it has nothing to do: the first burst after a pause goes on from memory. */
const PACE_HOLDS_MS = 600_000;

export class Lane {
  readonly destinationId: string;
  readonly #waiting = new Fifo<Job>();
  /** Most requests at the same time. */
  #ceiling: number;
  #limit: number;
  #inFlight = 0;
  /** Places promised to deliveries whose accept is being committed. */
  #reserved = 0;
  /** The store has due deliveries for this lane beyond those that are leased. */
  hasMore = false;
  /** The number of the last claim before a delivery was left to the store. */
  leftDuring = 0;
  /** How its last attempt ended. */
  standing: Standing = 'unknown';
  /** A wait for the rate limit is under way. */
  isPaced = false;
  #bucket: TokenBucket | undefined;
  readonly #aheadMs: () => number;
  /** Attempts that ended each millisecond, in the last window that is over. */
  #pace = 0;
  #windowFrom = 0;
  #inWindow = 0;
  #lastEndAt = 0;

  /**
   * `aheadMs`: how much of its work a lane may have leased, by its own pace, where that is more than its slots need. What
   * is accepted goes straight on from memory as long as it fits; what does not is written, found and read once more.
   */
  constructor(destinationId: string, ceiling: number, aheadMs: () => number) {
    this.destinationId = destinationId;
    this.#ceiling = ceiling;
    this.#aheadMs = aheadMs;
    this.#limit = Math.min(FIRST_LIMIT, ceiling);
  }

  configure(ceiling: number, ratePerSecond: number | undefined): void {
    this.#ceiling = ceiling;
    this.#limit = Math.min(this.#limit, ceiling);
    if (ratePerSecond === undefined) this.#bucket = undefined;
    else if (this.#bucket?.ratePerSecond !== ratePerSecond) this.#bucket = new TokenBucket(ratePerSecond);
  }

  /** How many more deliveries may be leased: those in flight, and enough behind them to bridge a commit. */
  get room(): number {
    return Math.max(0, this.#capacity - this.#inFlight - this.#reserved - this.#waiting.length);
  }

  /**
   * How many may be handed over as they are accepted. While the store has more, half of the lane is kept for that: what
   * is new does not wait behind the backlog for ever, and does not starve it.
   */
  get directRoom(): number {
    return this.hasMore ? Math.max(0, this.room - this.#capacity / 2) : this.room;
  }

  /** Whether one more could start now, were it leased. */
  get hasSlot(): boolean {
    return !this.isPaced && this.#inFlight + this.#reserved + this.#waiting.length < this.#limit;
  }

  /** Worth a claim: a good part of the room is free, so that a busy lane claims in batches and an idle one at once. */
  get isHungry(): boolean {
    return this.hasMore && this.room >= this.#capacity / 4;
  }

  get #capacity(): number {
    return Math.max(LEASED_PER_SLOT * this.#limit, Math.floor(this.#pace * this.#aheadMs()));
  }

  get isIdle(): boolean {
    return !this.hasMore && this.#inFlight === 0 && this.#reserved === 0 && this.#waiting.length === 0;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  reserve(): void {
    this.#reserved += 1;
  }

  unreserve(): void {
    this.#reserved -= 1;
  }

  enqueue(job: Job): void {
    this.#waiting.push(job);
  }

  /** The next job to start now, or how long to wait for the rate limit, or nothing. */
  next(now: number): Job | { waitMs: number } | undefined {
    if (this.#waiting.length === 0 || this.#inFlight >= this.#limit) return undefined;
    const waitMs = this.#bucket?.take(now) ?? 0;
    if (waitMs > 0) return { waitMs };
    if (this.#inFlight === 0) this.#endPause(now);
    this.#inFlight += 1;
    return this.#waiting.shift();
  }

  finish(succeeded: boolean, now: number): void {
    this.#inFlight -= 1;
    this.#measurePace(now);
    this.standing = succeeded ? 'proven' : 'failing';
    this.#limit = succeeded ? Math.min(this.#ceiling, this.#limit + 1) : Math.max(1, this.#limit >> 1);
  }

  #measurePace(now: number): void {
    const elapsedMs = now - this.#windowFrom;
    if (elapsedMs >= PACE_WINDOW_MS || elapsedMs < 0) {
      this.#pace = elapsedMs > 0 ? this.#inWindow / elapsedMs : 0;
      this.#windowFrom = now;
      this.#inWindow = 0;
    }
    this.#inWindow += 1;
    this.#lastEndAt = now;
  }

  /** How long it had nothing to do says nothing of how fast it is. */
  #endPause(now: number): void {
    const pauseMs = now - this.#lastEndAt;
    if (pauseMs <= PACE_WINDOW_MS) return;
    if (pauseMs > PACE_HOLDS_MS) this.#pace = 0;
    this.#windowFrom = now;
    this.#inWindow = 0;
  }

  /** Gives up what waits in memory. */
  drain(): Job[] {
    return this.#waiting.drain();
  }
}

/** A rate limit with a burst of one second's worth. */
class TokenBucket {
  readonly ratePerSecond: number;
  #tokens: number;
  #filledAt = 0;

  constructor(ratePerSecond: number) {
    this.ratePerSecond = ratePerSecond;
    this.#tokens = ratePerSecond;
  }

  /** Takes a token, or says how long until there is one. */
  take(now: number): number {
    const elapsedMs = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(this.ratePerSecond, this.#tokens + (elapsedMs * this.ratePerSecond) / 1000);
    this.#filledAt = now;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.ceil(((1 - this.#tokens) * 1000) / this.ratePerSecond);
  }
}
