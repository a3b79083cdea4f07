export interface BatchLimits<Item> {
  readonly maxItems: number;
  /** A batch ends before it would exceed this, but has one item at least; no limit without it. */
  readonly maxBytes?: number;
  readonly bytesOf?: (item: Item) => number;
  /** Runs that may be under way; one without it. */
  readonly atOnce?: number;
  /** Whether there is other work for the turns that pass after a run of many: then they pass however many wait. */
  readonly hasOtherWork?: () => boolean;
}

/** A run of so many is one of many. */
export const MANY = 16;
/**
 * Turns of the event loop that pass after a run of many before the next begins, unless it was cut, or enough wait and there is
 * nothing else to do: fewer and larger runs, for results that come some milliseconds later. Turns are long when there is much to
 * do, and over at once when not. It saved a tenth of all CPU, here and in the database, where a program publishes and delivers
 * (November 2026).
 */
export const REST_TURNS = 12;
/** Larger runs save little more. Where several may be under way, each has its share. */
export const ENOUGH = 256;

interface Entry<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Group commit: what arrives while as many runs are under way as may be forms the next, up to a number of items and of
 * bytes. No timers and no fixed size; alone, an item waits for the end of its turn of the event loop only. Runs of many rest:
 * whoever comes first after one waits for the turns, which are counted while somebody does. To count them while nobody does, the
 * loop would have to spin, and receiving took a twentieth more CPU.
 *
 * A run begins as soon as enough wait, also in the middle of a turn: a hundred requests may be read in one, and a store that
 * hears of them at its end is idle while they are read, and leaves their readers idle while it commits.
 */
export class Batcher<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #limits: BatchLimits<Item>;
  readonly #atOnce: number;
  readonly #enough: number;
  readonly #waiting: Entry<Item, Result>[] = [];
  #running = 0;
  /** Somebody looks at the end of this turn whether a run can begin. */
  #scheduled = false;
  #restTurns = 0;
  #idle: (() => void)[] = [];

  constructor(limits: BatchLimits<Item>, run: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#limits = limits;
    this.#run = run;
    this.#atOnce = limits.atOnce ?? 1;
    this.#enough = ENOUGH / this.#atOnce;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isTime()) this.#begin();
      else this.#schedule();
    });
  }

  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void> {
    return this.#isIdle() ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  #isIdle(): boolean {
    return this.#running === 0 && this.#waiting.length === 0;
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0 || this.#running >= this.#atOnce) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#restTurns === 0 || this.#isTime()) return this.#begin();
      this.#restTurns -= 1;
      this.#schedule();
    });
  }

  /** Whether no turn need pass, to the end of this one or of the rest. */
  #isTime(): boolean {
    if (this.#waiting.length < this.#enough) return false;
    return this.#restTurns === 0 || !this.#limits.hasOtherWork?.();
  }

  /** Begins the next run, if anything waits and one more may be under way. */
  #begin(): void {
    if (this.#waiting.length === 0 || this.#running >= this.#atOnce) return;
    this.#running += 1;
    this.#restTurns = 0;
    const batch = this.#waiting.splice(0, this.#batchSize());
    // What did not fit waits for nothing but its turn, however few it is.
    const isCut = this.#waiting.length > 0;
    if (isCut) this.#schedule();
    const rests = batch.length >= MANY && !isCut;
    const run = async () => this.#run(batch.map(({ item }) => item));
    run().then(
      (results) =>
        this.#end(rests, () => {
          for (let index = 0; index < batch.length; index++) batch[index]?.resolve(results[index] as Result);
        }),
      (error: unknown) =>
        this.#end(rests, () => {
          for (const entry of batch) entry.reject(error);
        }),
    );
  }

  #end(rests: boolean, settle: () => void): void {
    this.#running -= 1;
    if (rests) this.#restTurns = REST_TURNS;
    if (!rests || this.#isTime()) {
      // First the next, then those who waited for this one: the store works while they go on.
      this.#begin();
      settle();
    } else {
      settle();
      this.#schedule();
    }
    if (this.#isIdle()) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #batchSize(): number {
    const { maxItems, maxBytes = Number.POSITIVE_INFINITY, bytesOf } = this.#limits;
    const most = Math.min(maxItems, this.#waiting.length);
    if (bytesOf === undefined) return most;
    let bytes = 0;
    for (let index = 0; index < most; index++) {
      const entry = this.#waiting[index];
      bytes += entry === undefined ? 0 : bytesOf(entry.item);
      if (bytes > maxBytes) return Math.max(1, index);
    }
    return most;
  }
}
