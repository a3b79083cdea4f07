import type { Policy } from '../model/index.ts';
import { freezeDeep } from './freeze-deep.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What a policy may say at most. Generous, but no policy can make a delivery live for years or an attempt for hours. */
export const POLICY_LIMITS = {
  retries: 100,
  delayMs: 30 * DAY_MS,
  factor: 100,
  timeoutMs: 10 * MINUTE_MS,
  windowMs: 365 * DAY_MS,
  rules: 50,
  conditions: 50,
} as const;

/** Standard Webhooks' example: 10 attempts over 75 h 35 min 5 s. */
export const STANDARD_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** What each key of a policy is when the user does not say. */
export const POLICY_DEFAULTS: Policy = freezeDeep<Policy>({
  schedule: { kind: 'explicit', delaysMs: [...STANDARD_DELAYS_MS] },
  // Spreads retries without ever coming earlier than the schedule that the user wrote.
  jitter: { kind: 'proportional', below: 0, above: 0.1 },
  retryBudget: 0,
  timeouts: { connectMs: 5 * SECOND_MS, totalMs: 15 * SECOND_MS },
  rules: [],
  redirects: 'failure',
  retryAfter: { honour: true, capMs: DAY_MS },
  windowMs: 0,
  maxDelayMs: POLICY_LIMITS.delayMs,
  onExhausted: 'keep',
});
