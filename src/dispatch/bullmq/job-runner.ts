/** One job from the queue into the engine's hands, and what became of it back into the queue. */
import { DelayedError, UnrecoverableError } from 'bullmq';
import type { Hands, Taken, Work } from '../dispatch.ts';
import type { DeliveryJob, JobResult } from './job.ts';

export interface JobRunnerOptions {
  readonly take: NonNullable<Hands['take']>;
  /** Puts the work into the queue as a new job. */
  readonly offer: (work: readonly Work[]) => void;
}

export function createJobRunner({ take, offer }: JobRunnerOptions) {
  return async function run(job: DeliveryJob, token: string | undefined): Promise<JobResult> {
    const taken = await take(job.data);
    switch (taken.kind) {
      case 'left':
        return { result: 'left to its lane' };
      case 'gone':
        return { result: 'nothing to do' };
      case 'later':
        return delay(job, token, taken.dueAt, attemptsOf(job));
      case 'recorded':
        return settle(job, token, taken);
    }
  };

  async function settle(
    job: DeliveryJob,
    token: string | undefined,
    { attempt, scheduleAttempts, maxAttempts }: Taken & { kind: 'recorded' },
  ): Promise<JobResult> {
    const { decision } = attempt;
    if (decision.kind === 'delivered') return { result: 'delivered', status: attempt.status, attempt: attempt.number };
    const line = `attempt ${scheduleAttempts} of ${maxAttempts}: ${decision.reason}`;
    // For dashboards only: the attempt is recorded in the store.
    await job.log(line).catch(() => {});
    if (decision.kind === 'dead') throw new UnrecoverableError(decision.reason);
    return delay(job, token, attempt.startedAt + attempt.durationMs + decision.delayMs, attempt.number);
  }

  /** The policy's delay is the job's. A job that Redis has forgotten meanwhile becomes a new one. */
  async function delay(
    job: DeliveryJob,
    token: string | undefined,
    dueAt: number,
    attempts: number,
  ): Promise<JobResult> {
    try {
      await job.moveToDelayed(dueAt, token);
    } catch {
      offer([{ ...job.data, attempts, dueAt }]);
      return { result: 'handed out again' };
    }
    throw new DelayedError();
  }
}

/** The attempts that the job's id was made of. */
function attemptsOf(job: DeliveryJob): number {
  return Number(job.id?.split('-').at(-1) ?? 0);
}
