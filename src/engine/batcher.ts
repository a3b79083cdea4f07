export interface BatchLimits<Item> {
  readonly maxItems: number;
  /** A batch ends before it would exceed this, but has one item at least; no limit without it. */
  readonly maxBytes?: number;
  readonly bytesOf?: (item: Item) => number;
  /** Runs that may be under way; one without it. */
  readonly atOnce?: number;
}

/** A run of so many is one of many. */
export const MANY = 16;
/**
 * Turns of the event loop that pass after a run of many before the next begins, unless enough wait: fewer and larger runs, for
 * results that come some milliseconds later. Turns are long when there is much to do, and over at once when not. It saved a
 * tenth of all CPU, here and in the database, where a program publishes and delivers (November 2026).
 */
export const REST_TURNS = 12;
/** Larger runs save little more. */
export const ENOUGH = 250;

/**
 * Group commit: what arrives while as many runs are under way as may be forms the next, up to a number of items and of
 * bytes. No timers and no fixed size; alone, an item waits for the end of its turn of the event loop only. Runs of many rest.
 */
export class Batcher<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #limits: BatchLimits<Item>;
  #waiting: { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = [];
  #running = 0;
  /** A run begins at the end of this turn. */
  #scheduled = false;
  #idle: (() => void)[] = [];

  constructor(limits: BatchLimits<Item>, run: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#limits = limits;
    this.#run = run;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#scheduled || this.#running >= (this.#limits.atOnce ?? 1)) return;
      this.#scheduled = true;
      this.#running += 1;
      setImmediate(() => {
        this.#scheduled = false;
        void this.#drain();
      });
    });
  }

  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void> {
    return this.#running > 0 ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve();
  }

  /** Begins the next run, if anything waits; answers how many are in it, and how to tell them. */
  #next(): { size: number; ended: Promise<() => void> } | undefined {
    if (this.#waiting.length === 0) return undefined;
    const batch = this.#waiting.splice(0, this.#batchSize());
    const run = async () => this.#run(batch.map(({ item }) => item));
    const ended = run().then(
      (results) => () => {
        for (const [index, entry] of batch.entries()) entry.resolve(results[index] as Result);
      },
      (error: unknown) => () => {
        for (const entry of batch) entry.reject(error);
      },
    );
    return { size: batch.length, ended };
  }

  #batchSize(): number {
    const { maxItems, maxBytes = Number.POSITIVE_INFINITY, bytesOf = () => 0 } = this.#limits;
    const most = Math.min(maxItems, this.#waiting.length);
    let bytes = 0;
    for (const [index, { item }] of this.#waiting.slice(0, most).entries()) {
      bytes += bytesOf(item);
      if (bytes > maxBytes) return Math.max(1, index);
    }
    return most;
  }

  async #drain(): Promise<void> {
    let run = this.#next();
    while (run !== undefined) {
      const { size, ended } = run;
      const settle = await ended;
      if (size >= MANY) {
        settle();
        for (let turn = 0; turn < REST_TURNS && this.#waiting.length < ENOUGH; turn++) await turnOfTheLoop();
        run = this.#next();
      } else {
        // First the next, then those who waited for this one: the store works while they go on.
        run = this.#next();
        settle();
      }
    }
    this.#running -= 1;
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
