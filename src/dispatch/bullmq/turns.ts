/**
 * Whose turn it is in a queue that knows no endpoints. A lane's jobs go in as they come up to so many a second; those of a
 * burst beyond it get BullMQ priorities, one more for each such second that the burst is ahead, up to twenty. BullMQ takes
 * jobs without a priority first, so what is for other endpoints overtakes the burst, whatever its length. A queue that is not
 * behind takes all of them at once, and none waits for the others.
 */
export const JOBS_PER_TURN = 100;
/**
 * A lane is never further behind than this. Nobody here knows what workers have taken meanwhile: an endpoint that gets many for
 * hours must not pay for it behind the whole of somebody's fresh burst.
 */
const MOST_AHEAD = 20 * JOBS_PER_TURN;
const MOST_LANES = 10_000;

interface Ahead {
  /** Jobs beyond its rate, as of `at`. */
  jobs: number;
  at: number;
}

export class Turns {
  readonly #lanes = new Map<string, Ahead>();

  /** The priority of the lane's next job; 0 is none, and comes first. */
  next(destinationId: string, now: number): number {
    let ahead = this.#lanes.get(destinationId);
    if (ahead === undefined) {
      if (this.#lanes.size >= MOST_LANES) this.#forget(now);
      ahead = { jobs: 0, at: now };
      this.#lanes.set(destinationId, ahead);
    }
    ahead.jobs = left(ahead, now);
    ahead.at = now;
    const turn = Math.floor(ahead.jobs / JOBS_PER_TURN);
    ahead.jobs = Math.min(ahead.jobs + 1, MOST_AHEAD);
    return turn;
  }

  /** Those that are no longer ahead; if all are, all: they begin anew. */
  #forget(now: number): void {
    for (const [id, ahead] of this.#lanes) if (left(ahead, now) === 0) this.#lanes.delete(id);
    if (this.#lanes.size >= MOST_LANES) this.#lanes.clear();
  }
}

function left({ jobs, at }: Ahead, now: number): number {
  return Math.max(0, jobs - (Math.max(0, now - at) * JOBS_PER_TURN) / 1000);
}
