/** Dead letters in groups, and in and out of an archive: `listGroups`, `restore`, `purge`. */
import type { Attempt, Delivery, Message } from '../model/index.ts';
import type { DeliveryFilter } from './queries.ts';

/**
 * One page looks at `limit` groups and counts up to `most` in each, by an index: its cost does not grow with the number
 * of dead letters. A group without a match in the time range is looked at and left out, so a page may be short.
 */
export interface GroupInput extends Pick<DeliveryFilter, 'applicationId' | 'diedAfter' | 'diedBefore'> {
  readonly limit: number;
  readonly most: number;
  /** Where the page before this one ended. */
  readonly after?: GroupKey;
}

export interface GroupKey {
  readonly applicationId: string;
  readonly eventType: string;
  readonly fingerprint: string;
}

export interface DeadLetterGroup extends GroupKey {
  /** Not more than `most`. */
  readonly count: number;
  /** When the first and the last of them died, within the time range. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** The last one of them. */
  readonly example: Delivery;
}

export interface GroupPage {
  readonly groups: readonly DeadLetterGroup[];
  /** Where to go on from; absent when nothing is left. */
  readonly next?: GroupKey;
}

/** A dead letter with everything that it takes to bring it back. */
export interface ArchivedDelivery {
  readonly delivery: Delivery;
  readonly message: Message;
  readonly attempts: readonly Attempt[];
}

export interface RestoreInput {
  /** When what comes back was last updated: it died when it did, and is kept as long again as if it had died now. */
  readonly now: number;
  readonly items: readonly ArchivedDelivery[];
}

/**
 * exists: there is a delivery of this id already, or of this message to this destination. missing: its owner is gone.
 * conflict: another message of the owner has the same event id.
 */
export type RestoreResult = 'restored' | 'exists' | 'missing' | 'conflict';

export interface PurgeItem {
  readonly id: string;
  /** As it was read: one that was retried or restored since is another, and stays. Without it, any dead letter of the id. */
  readonly updatedAt?: number;
}
