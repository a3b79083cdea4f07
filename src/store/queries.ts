/** Filters and pages: what the `list…` operations are asked, and `counts`. */
import type { DeadCause, DeliveryState, ErrorKind } from '../model/index.ts';

export interface PageInput {
  readonly limit: number;
  readonly order: 'ascending' | 'descending';
  /** The key of the item to go on from, exclusive; backward pages towards the list's start. */
  readonly cursor?: { readonly key: string; readonly direction: 'forward' | 'backward' };
}

export interface Page<T> {
  /** In the list's own order, whichever way it was paged. */
  readonly items: readonly T[];
  /** Nothing is left in the direction of paging. */
  readonly done: boolean;
}

export interface MessageFilter {
  readonly applicationId: string;
  readonly eventTypes?: readonly string[];
  readonly channel?: string;
  readonly tag?: string;
  readonly after?: number;
  readonly before?: number;
}

export interface DeliveryFilter {
  readonly applicationId?: string;
  readonly destinationId?: string;
  readonly messageId?: string;
  readonly states?: readonly DeliveryState[];
  readonly eventTypes?: readonly string[];
  readonly cause?: DeadCause;
  readonly fingerprint?: string;
  /** Text that the last error contains, in whichever case. */
  readonly error?: string;
  /** By the time of creation, as everywhere; exclusive. */
  readonly after?: number;
  readonly before?: number;
  /** By the time of death, exclusive. */
  readonly diedAfter?: number;
  readonly diedBefore?: number;
}

export interface AttemptFilter {
  readonly applicationId?: string;
  readonly messageId?: string;
  readonly destinationId?: string;
  readonly deliveryId?: string;
  readonly outcome?: 'success' | 'failure';
  /** 200 for 2xx, and so on; 0 for attempts without an answer. */
  readonly statusClass?: number;
  readonly error?: ErrorKind;
  readonly eventTypes?: readonly string[];
  readonly after?: number;
  readonly before?: number;
}

export interface Counts {
  readonly pending: number;
  /** Of the pending ones, those that have been tried before. */
  readonly retrying: number;
  readonly leased: number;
  readonly held: number;
  readonly dead: number;
  /** Of the pending ones, those that were due before `untakenBefore` and that no node has taken up. */
  readonly overdue: number;
  /** Of the overdue ones, those to handlers. */
  readonly untaken: number;
  readonly oldestDueAt: number | undefined;
}
