import type { Policy, Rule } from '../model/index.ts';
import { freezeDeep } from './freeze-deep.ts';
import { STANDARD_DELAYS_MS } from './policy-defaults.ts';
import { rejectOn, retryOn } from './rule.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

export const PRESET_NAMES = [
  'payments-inbound',
  'public-api',
  'quick',
  'stripe-subscriptions',
  'outbox',
  'multi-day',
] as const;

export type PresetName = (typeof PRESET_NAMES)[number];

export interface Preset {
  readonly description: string;
  readonly policy: Policy;
}

/** Rate limits and server errors pass; any other 4xx will be the same next time. Network failures are retried. */
const FINAL_4XX: readonly Rule[] = [retryOn(429, '5xx'), rejectOn('4xx')];

/**
 * The document names 429, 503, timeouts, database and Redis as passing, and 400, 401, 403, validation, unknown types and
 * duplicates as final. What it does not name follows the same sense: other 5xx and network failures are retried, other
 * 4xx are final.
 */
const paymentsInbound: Policy = {
  schedule: { kind: 'explicit', delaysMs: [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS] },
  jitter: { kind: 'none' },
  retryBudget: 0,
  timeouts: { connectMs: 5 * SECOND_MS, totalMs: 30 * SECOND_MS },
  rules: [
    retryOn(429, '5xx', 'timeout', 'connect_timeout', 'database', 'redis'),
    rejectOn('4xx', 'validation', 'unknown_event_type', 'duplicate', 'permanent'),
  ],
  redirects: 'failure',
  retryAfter: { honour: true, capMs: 15 * MINUTE_MS },
  windowMs: 0,
  maxDelayMs: 15 * MINUTE_MS,
  onExhausted: 'keep',
};

const publicApi: Policy = {
  schedule: { kind: 'exponential', baseMs: 5 * SECOND_MS, factor: 5, capMs: 3125 * SECOND_MS, retries: 5 },
  jitter: { kind: 'proportional', below: 0, above: 0.1 },
  retryBudget: 0,
  timeouts: { connectMs: 5 * SECOND_MS, totalMs: 10 * SECOND_MS },
  rules: [retryOn(429, '5xx'), rejectOn('4xx', 'malformed_response')],
  redirects: 'success',
  // One hour holds both the longest jittered delay (3437.5 s) and a Retry-After as long as the whole schedule.
  retryAfter: { honour: true, capMs: HOUR_MS },
  windowMs: 0,
  maxDelayMs: HOUR_MS,
  onExhausted: 'fail',
};

const quick: Policy = {
  schedule: { kind: 'exponential', baseMs: SECOND_MS, factor: 2, capMs: 16 * SECOND_MS, retries: 5 },
  jitter: { kind: 'additive', maxMs: SECOND_MS },
  retryBudget: 0,
  timeouts: { connectMs: 10 * SECOND_MS, totalMs: 30 * SECOND_MS },
  rules: FINAL_4XX,
  redirects: 'follow',
  // A rate limit often lasts a minute: longer than this schedule's own waits, so the caps leave room for it.
  retryAfter: { honour: true, capMs: 5 * MINUTE_MS },
  windowMs: 0,
  maxDelayMs: 5 * MINUTE_MS,
  onExhausted: 'keep',
};

export interface StripeSubscriptionsOptions {
  /** Retries after the first attempt; 3 without it. */
  readonly maxRetries?: number;
}

/** Document 003's policy, with its `max_retries`. */
export function stripeSubscriptions({ maxRetries = 3 }: StripeSubscriptionsOptions = {}): Policy {
  return freezeDeep<Policy>({
    schedule: { kind: 'exponential', baseMs: 30 * SECOND_MS, factor: 2, capMs: HOUR_MS, retries: maxRetries },
    jitter: { kind: 'none' },
    retryBudget: 0,
    timeouts: { connectMs: 5 * SECOND_MS, totalMs: 30 * SECOND_MS },
    // Invalid payloads, missing subscription data and failed business rules reach us as `validation` or `permanent`.
    rules: [
      rejectOn('validation', 'permanent', 'unknown_event_type', 'duplicate'),
      retryOn('database', 'redis', 429, '5xx'),
      rejectOn('4xx'),
    ],
    redirects: 'failure',
    retryAfter: { honour: true, capMs: HOUR_MS },
    windowMs: 0,
    maxDelayMs: HOUR_MS,
    onExhausted: 'keep',
  });
}

export interface OutboxOptions {
  /** 0–10000; 0 (the default) leaves the exponential schedule untouched. */
  readonly jitterBasisPoints?: number;
  /** Retries at most; 0 (the default) disables the budget. */
  readonly retryBudget?: number;
}

/**
 * Document 004's policy with its two settings. The document keeps an exponential schedule that it does not spell out,
 * and retries every failed send: 10 attempts from 5 s, doubling to 15 minutes, are our choice.
 */
export function outbox({ jitterBasisPoints = 0, retryBudget = 0 }: OutboxOptions = {}): Policy {
  return freezeDeep<Policy>({
    schedule: { kind: 'exponential', baseMs: 5 * SECOND_MS, factor: 2, capMs: 15 * MINUTE_MS, retries: 9 },
    jitter: { kind: 'hash', basisPoints: jitterBasisPoints },
    retryBudget,
    timeouts: { connectMs: 5 * SECOND_MS, totalMs: 10 * SECOND_MS },
    rules: [],
    redirects: 'failure',
    retryAfter: { honour: true, capMs: 15 * MINUTE_MS },
    windowMs: 0,
    maxDelayMs: 15 * MINUTE_MS,
    onExhausted: 'keep',
  });
}

const multiDay: Policy = {
  schedule: { kind: 'explicit', delaysMs: [...STANDARD_DELAYS_MS] },
  jitter: { kind: 'proportional', below: 0.1, above: 0.1 },
  retryBudget: 0,
  timeouts: { connectMs: 5 * SECOND_MS, totalMs: 20 * SECOND_MS },
  // Standard Webhooks: everything but a 2xx is a failure to be retried; 410 disables.
  rules: [],
  redirects: 'failure',
  retryAfter: { honour: true, capMs: 24 * HOUR_MS },
  windowMs: 0,
  // Room for 24 h and its jitter.
  maxDelayMs: 30 * HOUR_MS,
  onExhausted: 'fail-when-silent',
};

/** The policies that come with Posthorn, by name. They work in both directions. */
export const presets: Readonly<Record<PresetName, Preset>> = freezeDeep<Record<PresetName, Preset>>({
  'payments-inbound': {
    description: 'Payment events taken in: 1, 5 and 15 minutes, then the dead-letter queue after 21 minutes.',
    policy: paymentsInbound,
  },
  'public-api': {
    description: "Deliveries to customers' endpoints: 5 retries over about 65 minutes; exhaustion fails the endpoint.",
    policy: publicApi,
  },
  quick: {
    description: 'Fast and short: 6 attempts within about half a minute, redirects followed.',
    policy: quick,
  },
  'stripe-subscriptions': {
    description: 'Stripe subscription events taken in: 30 s, 1 min, 2 min, then the dead-letter queue.',
    policy: stripeSubscriptions(),
  },
  outbox: {
    description:
      'From a transactional outbox: 10 attempts over about 36 minutes, hash jitter and retry budget optional.',
    policy: outbox(),
  },
  'multi-day': {
    description: "Standard Webhooks' example: 10 attempts over about 75 hours; only a silent endpoint is failed.",
    policy: multiDay,
  },
});

export function isPresetName(name: string): name is PresetName {
  return (PRESET_NAMES as readonly string[]).includes(name);
}
