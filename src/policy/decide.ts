import type { Decision, Outcome, Policy } from '../model/index.ts';
import { classify } from './classify.ts';
import { describeOutcome } from './describe-outcome.ts';
import { formatDuration } from './format-duration.ts';
import { jitteredDelay } from './jitter.ts';
import { parseRetryAfter } from './retry-after.ts';
import { maxAttempts } from './schedule.ts';

/** What is known when an attempt ends. Times are ms since the epoch by the deciding node's clock. */
export interface Facts {
  readonly messageId: string;
  readonly deliveryId: string;
  /** The attempt that just finished, 1-based, within the current schedule. */
  readonly attempt: number;
  /** The attempt that just finished uses up none of the policy's, so that `attempt` is the one before it. */
  readonly uncounted?: boolean;
  /** When this schedule's first attempt started. */
  readonly firstAttemptAt: number;
  readonly now: number;
  readonly outcome: Outcome;
}

type Dead = Extract<Decision, { kind: 'dead' }>;
type Retry = Extract<Decision, { kind: 'retry' }>;

/**
 * The only place that decides what follows an attempt. Pure: the time and the random draw (uniform in [0, 1)) are
 * arguments, and it never throws, whatever the receiver did.
 *
 * In this order: success; the endpoint's own wish to stop (410, `webhook-delivery`); rejected by the policy; attempts
 * used up; retry, unless that would start after the policy's window.
 */
export function decide(facts: Facts, policy: Policy, draw: number): Decision {
  const { outcome, attempt } = facts;
  const verdict = classify(outcome, policy);
  if (verdict === 'success' && outcome.kind === 'response') return delivered(outcome);
  const what = describeOutcome(outcome);

  const stop = endpointStop(outcome, what);
  if (stop !== undefined) return stop;

  if (verdict === 'reject') {
    return { kind: 'dead', cause: 'rejected', reason: `${what}: not retried by this policy` };
  }

  const max = maxAttempts(policy);
  if (attempt >= max) return exhausted(policy, `attempts exhausted (${attempt} of ${max}): ${what}`);

  const retry = nextAttempt(facts, policy, draw, `${what}: retry ${attempt} of ${max - 1}`);
  if (policy.windowMs > 0 && facts.now + retry.delayMs > facts.firstAttemptAt + policy.windowMs) {
    const window = formatDuration(policy.windowMs);
    return exhausted(policy, `time exhausted (attempt ${attempt + 1} would start after the ${window} window): ${what}`);
  }
  return retry;
}

/** By status. All that is delivered has one of these, and passes it on to another thread: one object is copied once a batch. */
const DELIVERED = new Map<number, Decision>();

function delivered(outcome: Extract<Outcome, { kind: 'response' }>): Decision {
  const { status } = outcome;
  let known = DELIVERED.get(status);
  if (known === undefined) {
    const why = status >= 300 ? 'a redirect counts as delivered under this policy' : 'delivered';
    known = Object.freeze({ kind: 'delivered', reason: `${describeOutcome(outcome)}: ${why}` });
    DELIVERED.set(status, known);
  }
  return known;
}

/**
 * 410, and the response header that Standard Webhooks proposes: `webhook-delivery: disable` means the same as 410,
 * `abort-message` gives up this message only. The header speaks about retrying, so it counts on failed attempts alone:
 * what the endpoint took (2xx) is delivered, whatever else it says.
 */
function endpointStop(outcome: Outcome, what: string): Dead | undefined {
  if (outcome.kind !== 'response') return undefined;
  const wish = outcome.webhookDelivery?.trim().toLowerCase();
  if (wish === 'disable') {
    const reason = `${what}: the endpoint asked to be disabled (webhook-delivery: disable)`;
    return { kind: 'dead', cause: 'rejected', reason, endpoint: 'disable' };
  }
  if (outcome.status === 410) {
    return { kind: 'dead', cause: 'rejected', reason: `${what}: the endpoint is gone`, endpoint: 'disable' };
  }
  if (wish === 'abort-message') {
    const reason = `${what}: the endpoint gave this message up (webhook-delivery: abort-message)`;
    return { kind: 'dead', cause: 'rejected', reason };
  }
  return undefined;
}

function exhausted(policy: Policy, reason: string): Dead {
  const dead: Dead = { kind: 'dead', cause: 'exhausted', reason };
  return policy.onExhausted === 'keep' ? dead : { ...dead, endpoint: policy.onExhausted };
}

function nextAttempt(facts: Facts, policy: Policy, draw: number, prefix: string): Retry {
  // The attempt was cut short by us: the endpoint has done nothing that waiting would spare it.
  if (facts.outcome.kind === 'failure' && facts.outcome.error === 'interrupted') {
    const reason = facts.uncounted ? `${describeOutcome(facts.outcome)}: sent again, not counted` : `${prefix} at once`;
    return { kind: 'retry', delayMs: 0, source: 'interrupted', reason };
  }
  const askedMs = askedDelay(facts, policy);
  if (askedMs === undefined) {
    const delayMs = jitteredDelay(policy, facts, draw);
    return { kind: 'retry', delayMs, source: 'schedule', reason: `${prefix} in ${formatDuration(delayMs)}` };
  }
  const delayMs = Math.min(askedMs, policy.retryAfter.capMs, policy.maxDelayMs);
  const asked = delayMs < askedMs ? `Retry-After asked for ${formatDuration(askedMs)}` : 'as Retry-After asks';
  return {
    kind: 'retry',
    delayMs,
    source: 'retry-after',
    reason: `${prefix} in ${formatDuration(delayMs)} (${asked})`,
  };
}

function askedDelay(facts: Facts, policy: Policy): number | undefined {
  const { outcome, now } = facts;
  if (!policy.retryAfter.honour || outcome.retryAfter === undefined) return undefined;
  return parseRetryAfter(outcome.retryAfter, now);
}
