/**
 * How due work reaches this node. The database stays the truth: a dispatch only says *when* to look at *which* delivery,
 * and the engine leases, sends and records it. Whatever a dispatch loses, repeats or delays, the engine's claims find.
 */
import type { Attempt } from '../model/index.ts';

export interface Dispatch {
  /**
   * Whether due work comes through this dispatch now. While it does not, the engine finds its work by itself: it hands
   * over what it accepts, and claims what is due.
   */
  readonly carries: boolean;
  /** How long after its due time a delivery that was left to the dispatch is claimed all the same. */
  readonly graceMs: number;
  /** Begins to hand out. Does not wait for a queue that cannot be reached. */
  start(hands: Hands): Promise<void>;
  /** Takes in deliveries that are stored as pending. Never waits and never fails: what is lost is claimed later. */
  offer(work: readonly Work[]): void;
  /** Hands out nothing more; resolves when all that was handed out has ended, or soon after `giveUp`. */
  stop(giveUp: AbortSignal): Promise<void>;
}

/** A delivery that waits in the store. The same delivery with the same number of attempts is the same work. */
export interface Work {
  readonly deliveryId: string;
  readonly destinationId: string;
  /** Attempts made so far. */
  readonly attempts: number;
  readonly dueAt: number;
}

/** The engine, as a dispatch sees it. */
export interface Hands {
  /**
   * Takes one delivery through its attempt; resolves when the record is committed. Never rejects. Absent on a node that
   * only accepts: it offers work, and nothing is handed out to it.
   */
  take?(work: Pick<Work, 'deliveryId' | 'destinationId'>): Promise<Taken>;
  /** `carries` changed. */
  onChange(): void;
  onTrouble(error: unknown): void;
  /** What was reported as trouble is over. */
  onRestored(what: string): void;
}

/** What became of a delivery that was handed out. */
export type Taken =
  /** An attempt was made and recorded. */
  | {
      readonly kind: 'recorded';
      readonly attempt: Attempt;
      readonly scheduleAttempts: number;
      readonly maxAttempts: number;
    }
  /** Its lane is full: it stays in the store, and the engine claims it when the lane has room. */
  | { readonly kind: 'left' }
  /** It waits no longer, or somebody else has it. */
  | { readonly kind: 'gone' }
  /** Hand it out again at that time. */
  | { readonly kind: 'later'; readonly dueAt: number };
