import type { Decision } from './decision.ts';
import type { Trigger } from './delivery.ts';
import type { ErrorKind } from './outcome.ts';

/** One try, with what came back and what was decided. */
export interface Attempt {
  readonly id: string;
  readonly deliveryId: string;
  readonly messageId: string;
  readonly applicationId: string;
  readonly destinationId: string;
  readonly eventType: string;
  /** 1, 2, 3 … within the delivery, without a gap. */
  readonly number: number;
  readonly trigger: Trigger;
  readonly url: string;
  readonly startedAt: number;
  readonly durationMs: number;
  /** The HTTP status, or 0 when there was no answer. */
  readonly status: number;
  readonly error?: ErrorKind;
  /** The answer's body (capped) or the failure in a line. */
  readonly response: string;
  readonly responseTruncated: boolean;
  readonly decision: Decision;
}
