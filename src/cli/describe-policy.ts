import type { Jitter, OnExhausted, Policy, RedirectMode } from '../model/index.ts';
import { formatDuration, maxAttempts, scheduledDelay } from '../policy/index.ts';
import { table } from './table.ts';

const REDIRECTS: Readonly<Record<RedirectMode, string>> = {
  success: 'a 3xx counts as delivered',
  follow: 'a 3xx is followed, at most 5 times',
  failure: 'a 3xx is a failure and never followed',
};

const ON_EXHAUSTED: Readonly<Record<OnExhausted, string>> = {
  keep: 'the endpoint goes on',
  fail: 'the endpoint is failed and waits for a person',
  'fail-when-silent': 'the endpoint is failed if it has accepted nothing since',
};

/** A policy in words, for a person who has to answer for it. */
export function describePolicy(policy: Policy): string {
  const attempts = maxAttempts(policy);
  const waits = Array.from({ length: attempts - 1 }, (_, index) =>
    formatDuration(Math.min(scheduledDelay(policy, index + 1), policy.maxDelayMs)),
  );
  const { retryAfter, timeouts } = policy;
  return table([
    ['attempts', `${attempts} at most`],
    ['waits', waits.length > 0 ? waits.join(', ') : 'none'],
    ['jitter', describeJitter(policy.jitter)],
    ['retry budget', policy.retryBudget > 0 ? `${policy.retryBudget} retries` : 'none'],
    ['time limits', `${formatDuration(timeouts.connectMs)} to connect, ${formatDuration(timeouts.totalMs)} in all`],
    ...policy.rules.map(({ when, then }) => [then, when.join(', ')]),
    ['otherwise', '2xx is delivered, 410 gives the endpoint up, everything else is retried'],
    ['redirects', REDIRECTS[policy.redirects]],
    ['Retry-After', retryAfter.honour ? `obeyed up to ${formatDuration(retryAfter.capMs)}` : 'ignored'],
    ['longest wait', formatDuration(policy.maxDelayMs)],
    ['window', policy.windowMs > 0 ? `no attempt later than ${formatDuration(policy.windowMs)}` : 'none'],
    ['when exhausted', `dead letter; ${ON_EXHAUSTED[policy.onExhausted]}`],
  ]);
}

function describeJitter(jitter: Jitter): string {
  switch (jitter.kind) {
    case 'none':
      return 'none';
    case 'proportional':
      return jitter.below === 0
        ? `up to +${percent(jitter.above)}`
        : `-${percent(jitter.below)} to +${percent(jitter.above)}`;
    case 'additive':
      return `plus up to ${formatDuration(jitter.maxMs)}`;
    case 'full':
      return 'anything up to the wait';
    case 'hash':
      return jitter.basisPoints === 0 ? 'none' : `±${jitter.basisPoints / 100} %, the same on every machine`;
  }
}

function percent(fraction: number): string {
  return `${Math.round(fraction * 1000) / 10} %`;
}
