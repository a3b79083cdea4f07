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
    readonly timestamp: string;
  };
}

/** A few dead letters want a person's look, and so does a queue of retries that grows. */
const DEGRADED = { deadLetters: 5, retries: 100 };
/** Enough to see trouble, and cheap to count. */
const MOST_COUNTED = 10_000;

/** Never rejects: a store that does not answer is what it is there to tell. */
export async function webhookHealth(
  store: Pick<Store, 'counts'>,
  clock: Clock,
  onTrouble: (error: string) => void,
): Promise<WebhookHealth> {
  const timestamp = new Date(clock.now()).toISOString();
  try {
    const { retrying, dead } = await store.counts({ most: MOST_COUNTED });
    const status = retrying > DEGRADED.retries || dead > DEGRADED.deadLetters ? 'degraded' : 'healthy';
    return { status, webhooks: { pending_retries: retrying, dlq_items: dead, timestamp } };
  } catch (error) {
    onTrouble(describeError(error));
    return { status: 'unhealthy', webhooks: { pending_retries: null, dlq_items: null, timestamp } };
  }
}
