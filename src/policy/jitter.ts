import type { Jitter, Policy } from '../model/index.ts';
import { hashFraction } from './hash-fraction.ts';
import { scheduledDelay } from './schedule.ts';

/** Which retry of what: the input of the hash jitter. `attempt` is the one just finished, so also the retry's number. */
export interface JitterKey {
  readonly messageId: string;
  readonly deliveryId: string;
  readonly attempt: number;
}

/**
 * The wait before the retry that follows `key.attempt`: the schedule's, jittered, at least 1 ms and never more than the
 * policy's cap. `draw` is uniform in [0, 1); the hash jitter does not look at it.
 */
export function jitteredDelay(policy: Policy, key: JitterKey, draw: number): number {
  const delayMs = jitter(policy.jitter, scheduledDelay(policy, key.attempt), key, draw);
  return Math.max(1, Math.min(delayMs, longestDelay(policy)));
}

function jitter(kind: Jitter, delayMs: number, key: JitterKey, draw: number): number {
  switch (kind.kind) {
    case 'none':
      return delayMs;
    case 'proportional': {
      // From the rounded lower end up, so that draw 0 gives exactly that and the upper end stays excluded.
      const lowest = Math.round(delayMs * (1 - kind.below));
      return lowest + Math.floor(draw * delayMs * (kind.below + kind.above));
    }
    case 'additive':
      return delayMs + Math.floor(draw * kind.maxMs);
    case 'full':
      return Math.ceil(delayMs * (1 - draw));
    case 'hash': {
      const fraction = hashFraction(`${key.messageId}|${key.deliveryId}|${key.attempt}`);
      return Math.round(delayMs * (1 + (kind.basisPoints / 10_000) * (2 * fraction - 1)));
    }
  }
}

/**
 * Only the hash jitter also stays under an exponential schedule's own cap (document 004 clamps it so). The others may
 * pass it by their jitter: 3125 s × 1.1 and 16 s + 1 s are what documents 001 and 002 ask for.
 */
function longestDelay(policy: Policy): number {
  const { schedule } = policy;
  if (policy.jitter.kind !== 'hash' || schedule.kind !== 'exponential') return policy.maxDelayMs;
  return Math.min(schedule.capMs, policy.maxDelayMs);
}
