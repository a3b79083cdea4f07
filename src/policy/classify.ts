import type { Condition, ErrorKind, Outcome, Policy } from '../model/index.ts';
import { matchesStatus } from './condition.ts';

export type Verdict = 'success' | 'retry' | 'reject';

/**
 * Failures that no later attempt can cure: an address that the operator forbids, and what a handler calls final. They
 * are rejected unless a rule of the policy names them.
 */
const FINAL_UNLESS_NAMED: ReadonlySet<ErrorKind> = new Set([
  'blocked_address',
  'validation',
  'unknown_event_type',
  'duplicate',
  'permanent',
]);

/**
 * What an outcome counts as under a policy, from its status or error alone. 2xx is always success, 410 always final (the
 * endpoint says that it is gone), and 3xx success where the policy says so; then the first rule that matches; then retry.
 */
export function classify(outcome: Outcome, policy: Policy): Verdict {
  if (outcome.kind === 'response') {
    const { status } = outcome;
    if (status >= 200 && status <= 299) return 'success';
    if (status === 410) return 'reject';
    if (status >= 300 && status <= 399 && policy.redirects === 'success') return 'success';
    return firstMatch(policy, (condition) => matchesStatus(condition, status)) ?? 'retry';
  }
  const { error } = outcome;
  const named = firstMatch(policy, (condition) => condition === error);
  return named ?? (FINAL_UNLESS_NAMED.has(error) ? 'reject' : 'retry');
}

function firstMatch(policy: Policy, matches: (condition: Condition) => boolean): 'retry' | 'reject' | undefined {
  return policy.rules.find((rule) => rule.when.some(matches))?.then;
}
