import type { DeadCause } from './decision.ts';

export const DELIVERY_STATES = ['pending', 'leased', 'delivered', 'dead', 'held', 'cancelled'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Who asked for the attempts of the current schedule: the engine, or a person (resend, dead-letter retry). */
export type Trigger = 'scheduled' | 'manual';

/** One message to one destination. Unique per (message, destination). */
export interface Delivery {
  readonly id: string;
  readonly messageId: string;
  readonly applicationId: string;
  readonly destinationId: string;
  readonly eventType: string;
  readonly state: DeliveryState;
  readonly trigger: Trigger;
  /** Attempts made in all; numbers never repeat. */
  readonly attempts: number;
  /** Attempts made in the current schedule: a retry by hand starts a new one at 0. */
  readonly scheduleAttempts: number;
  /** What the policy allowed in a schedule when it was last decided; unknown before the first attempt. */
  readonly maxAttempts?: number;
  /** When the current schedule's first attempt started, for the policy's window. */
  readonly firstAttemptAt?: number;
  /** When the next attempt is due (pending), or was due when it was held. */
  readonly dueAt?: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Why it is in this state: the last decision's reason. */
  readonly reason: string;
  readonly deadCause?: DeadCause;
  readonly deadAt?: number;
  /** What a dead letter died of: a hash of the error (policy/error-fingerprint.ts), and the error in a line. */
  readonly fingerprint?: string;
  readonly lastError?: string;
}
