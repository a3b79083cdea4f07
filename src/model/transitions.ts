/**
 * The legal transitions of a delivery. Every statement of a store that changes a state names the states it
 * starts from; the conformance suite's random histories check each step against this table.
 *
 *            accept (lane has room) ─────────────► leased
 *            accept ─► pending ── claim ─────────► leased ── delivered ─► delivered
 *                        ▲  ▲                        │ │
 *                        │  └── retry / release ─────┘ └── exhausted / rejected ─► dead
 *            accept ─► held ◄── endpoint stopped ── pending
 *
 * A person may send a finished delivery again (resend, retry of a dead letter): it becomes pending, or held while its
 * endpoint is stopped; and may discard a dead letter: cancelled. Nothing else leaves a final state.
 */
import type { DeliveryState } from './delivery.ts';

export const LEGAL_TRANSITIONS: Readonly<Record<DeliveryState, readonly DeliveryState[]>> = {
  pending: ['leased', 'held', 'cancelled', 'pending'],
  leased: ['delivered', 'pending', 'dead', 'held', 'cancelled'],
  held: ['pending', 'cancelled'],
  delivered: ['pending', 'held'],
  dead: ['pending', 'held', 'cancelled'],
  cancelled: ['pending', 'held'],
};

export const FINAL_STATES: readonly DeliveryState[] = ['delivered', 'dead', 'cancelled'];

export function isLegalTransition(from: DeliveryState, to: DeliveryState): boolean {
  return LEGAL_TRANSITIONS[from].includes(to);
}
