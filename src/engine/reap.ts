/** Reap: what a dead or stalled node had leased is taken over, recorded as an interrupted attempt, and decided on. */
import type { Clock } from '../clock.ts';
import type { ClaimedDelivery, Store } from '../store/index.ts';
import { Repeat } from './repeat.ts';
import type { Worker } from './worker.ts';

const MAX_TAKEN_AT_ONCE = 500;
const MESSAGE = 'the process that held this delivery died or stalled: it may have been sent, or not';

interface ReaperOptions {
  readonly store: Pick<Store, 'takeOver'>;
  readonly clock: Clock;
  readonly worker: Pick<Worker, 'interrupt'>;
  readonly epoch: () => number;
  /** What one pass took over, once it is recorded. */
  readonly onTakenOver: (deliveries: readonly ClaimedDelivery[]) => void;
  readonly onTrouble: (error: unknown) => void;
}

export function createReaper(options: ReaperOptions): Repeat {
  const duty: Repeat = new Repeat(options.clock, pass, options.onTrouble);

  async function pass(): Promise<void> {
    if ((await reapOnce(options)) === MAX_TAKEN_AT_ONCE) duty.ask();
  }

  return duty;
}

/** Answers how many it took over. */
export async function reapOnce({
  store,
  clock,
  worker,
  ...options
}: Omit<ReaperOptions, 'onTrouble'>): Promise<number> {
  const epoch = options.epoch();
  const taken = await store.takeOver({ epoch, now: clock.now(), limit: MAX_TAKEN_AT_ONCE });
  const ends = await Promise.all(
    taken.map((delivery) => worker.interrupt({ delivery, epoch, takenOver: true }, MESSAGE)),
  );
  const recorded = taken.filter((_, index) => ends[index]?.kind === 'recorded');
  if (recorded.length > 0) options.onTakenOver(recorded);
  return taken.length;
}
