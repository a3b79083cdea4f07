/** How far a delivery is, in the five words that webhook APIs use. */
import type { Delivery, DeliveryState } from '../model/index.ts';

export const PROGRESS = ['success', 'pending', 'fail', 'sending', 'canceled'] as const;
export type Progress = (typeof PROGRESS)[number];

/** Tried and to be tried again is `sending`; `pending` has not been tried yet, or is held for a stopped endpoint. */
export function progressOf(delivery: Delivery): Progress {
  switch (delivery.state) {
    case 'delivered':
      return 'success';
    case 'dead':
      return 'fail';
    case 'cancelled':
      return 'canceled';
    case 'leased':
      return 'sending';
    case 'held':
      return 'pending';
    case 'pending':
      return delivery.attempts > 0 ? 'sending' : 'pending';
  }
}

/** The states that may show as this progress: what the store is asked for before progressOf looks at each. */
export const STATES_OF_PROGRESS: Readonly<Record<Progress, readonly DeliveryState[]>> = {
  success: ['delivered'],
  pending: ['pending', 'held'],
  fail: ['dead'],
  sending: ['leased', 'pending'],
  canceled: ['cancelled'],
};
