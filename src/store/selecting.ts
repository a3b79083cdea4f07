/** What a person does with deliveries, one or many: `redeliver`, `addDelivery`, `discard`. */
import type { DeliveryState } from '../model/index.ts';
import type { DeliveryFilter } from './queries.ts';

/** Chosen deliveries, or those that a filter matches: at most `limit` of them, oldest first. */
export type Selection =
  | { readonly ids: readonly string[] }
  | { readonly filter: DeliveryFilter; readonly limit: number };

export interface SelectionOutput {
  readonly ids: readonly string[];
  /** Whether the filter matches more than this call took. */
  readonly more: boolean;
}

export interface RedeliverInput {
  readonly now: number;
  readonly select: Selection;
  /** Only deliveries in these states are taken. */
  readonly from: readonly DeliveryState[];
}

export interface AddDeliveryInput {
  readonly now: number;
  readonly id: string;
  readonly applicationId: string;
  readonly messageId: string;
  readonly destinationId: string;
}

export interface DiscardInput {
  readonly now: number;
  readonly select: Selection;
  readonly reason: string;
}
