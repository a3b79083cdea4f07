/**
 * A policy is plain data: how often, how long, and what counts as what. The functions that read it are in `policy/`.
 */
import type { ErrorKind } from './outcome.ts';

export type Schedule =
  /** The wait before each retry, one by one. */
  | { readonly kind: 'explicit'; readonly delaysMs: readonly number[] }
  /** baseMs × factor^(n-1) before retry n, never more than capMs. */
  | {
      readonly kind: 'exponential';
      readonly baseMs: number;
      readonly factor: number;
      readonly capMs: number;
      readonly retries: number;
    };

export type Jitter =
  | { readonly kind: 'none' }
  /** delay × (1 + u), u uniform in [-below, above). */
  | { readonly kind: 'proportional'; readonly below: number; readonly above: number }
  /** delay + u, u uniform in [0, maxMs). */
  | { readonly kind: 'additive'; readonly maxMs: number }
  /** Uniform in (0, delay]. */
  | { readonly kind: 'full' }
  /** delay × (1 ± basisPoints/10000), the factor drawn by a hash of (message id, delivery id, attempt). */
  | { readonly kind: 'hash'; readonly basisPoints: number };

/** `429`, `'5xx'`, `'520-527'`, or an error kind. */
export type Condition = number | string | ErrorKind;

/**
 * The first rule that matches an outcome decides. 2xx is always success. What no rule names is retried, except what can
 * never work: blocked_address, validation, unknown_event_type, duplicate and permanent are rejected.
 */
export interface Rule {
  readonly when: readonly Condition[];
  readonly then: 'retry' | 'reject';
}

export type RedirectMode = 'success' | 'follow' | 'failure';

export interface RetryAfter {
  readonly honour: boolean;
  /** The longest wait that an endpoint may ask for. */
  readonly capMs: number;
}

/**
 * What a delivery's exhaustion does to its endpoint: nothing; fail it; or fail it only when it has not accepted
 * anything since the exhausted delivery's first attempt (one bad message does not stop a healthy endpoint).
 */
export type OnExhausted = 'keep' | 'fail' | 'fail-when-silent';

export interface Policy {
  readonly schedule: Schedule;
  readonly jitter: Jitter;
  /** Retries allowed at most, whatever the schedule says; 0 disables the budget. */
  readonly retryBudget: number;
  readonly timeouts: { readonly connectMs: number; readonly totalMs: number };
  readonly rules: readonly Rule[];
  readonly redirects: RedirectMode;
  readonly retryAfter: RetryAfter;
  /** No attempt starts later than this after the first one; 0 disables the limit. */
  readonly windowMs: number;
  /** The longest wait between two attempts, jitter included. */
  readonly maxDelayMs: number;
  readonly onExhausted: OnExhausted;
}

/** A policy by name (a preset's or a stored one's), or written out in place. */
export type PolicyRef = string | Policy;

/** A policy that a user stored under a name of its own. */
export interface NamedPolicy {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly policy: Policy;
  readonly createdAt: number;
  readonly updatedAt: number;
}
