/** How receiving and sending are doing, in the words of GET /health/webhooks: for that route and for programs of their own. */
import type { Clock } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { Store } from '../store/index.ts';

export interface WebhookHealth {
  /** `unhealthy`: the store does not answer, and the counts are null. */
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  readonly webhooks: {
    readonly pending_retries: number | null;
    readonly dlq_items: number | null;
    /** Events that wait for a handler which no process has: it was renamed, or its process does not run. */
    readonly without_handler: number | null;
    /** Deliveries that were due 15 minutes ago and that nobody has taken: no worker runs, or the cron in its place. */
    readonly overdue: number | null;
    readonly timestamp: string;
  };
}

/** A few dead letters want a person's look, and so does a queue of retries that grows. */
const DEGRADED = { deadLetters: 5, retries: 100 };
/** Longer than a restart takes, and than a cron that calls `processPendingRetries` should pause. */
const UNTAKEN_AFTER_MS = 15 * 60_000;
/** Enough to see trouble, and cheap to count. */
const MOST_COUNTED = 10_000;

/** Never rejects: a store that does not answer is what it is there to tell. */
export async function webhookHealth(
  store: Pick<Store, 'counts'>,
  clock: Clock,
  onTrouble: (error: string) => void,
): Promise<WebhookHealth> {
  const now = clock.now();
  const timestamp = new Date(now).toISOString();
  try {
    const counted = await store.counts({ most: MOST_COUNTED, untakenBefore: now - UNTAKEN_AFTER_MS });
    const { retrying, dead, untaken, overdue } = counted;
    const isDegraded = retrying > DEGRADED.retries || dead > DEGRADED.deadLetters || overdue > 0;
    const status = isDegraded ? 'degraded' : 'healthy';
    const counts = { pending_retries: retrying, dlq_items: dead, without_handler: untaken, overdue };
    return { status, webhooks: { ...counts, timestamp } };
  } catch (error) {
    onTrouble(describeError(error));
    return {
      status: 'unhealthy',
      webhooks: { pending_retries: null, dlq_items: null, without_handler: null, overdue: null, timestamp },
    };
  }
}
