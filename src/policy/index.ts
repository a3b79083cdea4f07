/**
 * Decides what follows an attempt: delivered, retried after how long, or dead, and what that does to the endpoint.
 *
 * Pure: no I/O, no clock, no randomness, no Node. The time and the random draw are arguments, so that the worker, the
 * recovery after a crash, `policy simulate` and the preview in the browser all get the same answer from the same
 * `decide`. It refuses to know about stores, HTTP or handlers: a receiver's behaviour reaches it as an Outcome, a policy
 * as data. It promises never to throw for an outcome, and never to grant more attempts than the policy does.
 * Times are the caller's clock in ms; delays count from the end of the attempt.
 */
export { classify, type Verdict } from './classify.ts';
export { closest } from './closest.ts';
export { decide, type Facts } from './decide.ts';
export { describeOutcome } from './describe-outcome.ts';
export { type HealthEvent, type HealthLabel, healthAfter, healthLabel } from './endpoint-health.ts';
export { errorFingerprint, errorLine } from './error-fingerprint.ts';
export { formatDuration } from './format-duration.ts';
export { type JitterKey, jitteredDelay } from './jitter.ts';
export { parsePolicy } from './parse-policy.ts';
export { POLICY_DEFAULTS, POLICY_LIMITS } from './policy-defaults.ts';
export {
  isPresetName,
  type OutboxOptions,
  outbox,
  PRESET_NAMES,
  type Preset,
  type PresetName,
  presets,
  type StripeSubscriptionsOptions,
  stripeSubscriptions,
} from './presets.ts';
export { parseRetryAfter } from './retry-after.ts';
export { maxAttempts, scheduledDelay } from './schedule.ts';
export { type SimulatedAttempt, type Simulation, type SimulationOptions, simulate } from './simulate.ts';
