import type { Policy, Schedule } from '../model/index.ts';

/** How many retries a schedule has, before any budget. */
export function retriesOf(schedule: Schedule): number {
  return schedule.kind === 'explicit' ? schedule.delaysMs.length : schedule.retries;
}

/** Attempts that a delivery gets in all: the schedule's, or fewer when a retry budget is set (0 means no budget). */
export function maxAttempts(policy: Policy): number {
  const scheduled = retriesOf(policy.schedule) + 1;
  return policy.retryBudget > 0 ? Math.min(scheduled, policy.retryBudget + 1) : scheduled;
}

/** The schedule's wait before retry `retryNumber` (1 is the first retry), before jitter, in whole milliseconds. */
export function scheduledDelay(policy: Policy, retryNumber: number): number {
  const { schedule } = policy;
  const nth = Math.max(1, retryNumber);
  if (schedule.kind === 'explicit') {
    return schedule.delaysMs[Math.min(nth, schedule.delaysMs.length) - 1] ?? policy.maxDelayMs;
  }
  // factor ** n may overflow to Infinity; the cap brings it back.
  return Math.round(Math.min(schedule.baseMs * schedule.factor ** (nth - 1), schedule.capMs));
}
