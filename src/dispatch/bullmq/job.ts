/** What a delivery looks like in the queue. */
import type { Job, JobsOptions } from 'bullmq';
import type { Work } from '../dispatch.ts';

export const QUEUE_NAME = 'deliveries';
const JOB_NAME = 'deliver';

/** All that a job carries; everything else is in the store. */
export type JobData = Pick<Work, 'deliveryId' | 'destinationId'>;

/** What a completed job says of its end. */
export interface JobResult {
  readonly result: 'delivered' | 'left to its lane' | 'nothing to do' | 'handed out again';
  readonly status?: number;
  readonly attempt?: number;
}

export type DeliveryJob = Job<JobData, JobResult>;

const SECONDS_KEPT = 86_400;
const COMPLETED_KEPT = 1000;
/** Dead letters are in the store until somebody removes them; Redis keeps the newest for the dashboards. */
const FAILED_KEPT = 10_000;
const LOG_LINES_KEPT = 50;

const OPTIONS: JobsOptions = {
  // The policy alone decides on retries.
  attempts: 1,
  removeOnComplete: { age: SECONDS_KEPT, count: COMPLETED_KEPT },
  removeOnFail: { count: FAILED_KEPT },
  keepLogs: LOG_LINES_KEPT,
  stackTraceLimit: 0,
};

/** The same work has the same job id, and BullMQ takes a job id once: offering twice is harmless. */
export function toJob(work: Work, now: number, priority: number): { name: string; data: JobData; opts: JobsOptions } {
  const { deliveryId, destinationId, attempts, dueAt } = work;
  return {
    name: JOB_NAME,
    data: { deliveryId, destinationId },
    opts: { ...OPTIONS, jobId: `${deliveryId}-${attempts}`, delay: Math.max(0, dueAt - now), priority },
  };
}
