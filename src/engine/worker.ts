/**
 * Takes leased jobs through their attempt and into the record. A job ends in exactly one of: recorded (in its lease),
 * released (its endpoint is stopped or gone, nothing was sent), or lost (another node has it: nothing is written).
 */
import { setMaxListeners } from 'node:events';
import { describeError } from '../errors.ts';
import type { Outcome } from '../model/index.ts';
import type { RecordItem, RecordOutput, Store } from '../store/index.ts';
import { Batcher } from './batcher.ts';
import { conclude, type DeliverOptions, endedInside, handle, interrupted, send, unexpected } from './deliver.ts';
import type { Directory, Target } from './directory.ts';
import type { Received } from './handling.ts';
import type { Job, JobEnd } from './lane.ts';
import { persist } from './persist.ts';

export interface WorkerOptions extends DeliverOptions {
  readonly store: Store;
  readonly directory: Directory;
  /** The attempt is over: its slot may go to the next job. */
  readonly onFinished: (job: Job, succeeded: boolean) => void;
  readonly onRecorded: (job: Job, item: RecordItem, target: Target, received: Received | undefined) => void;
  readonly onEndpoints: (endpoints: RecordOutput['endpoints']) => void;
  readonly onReleased: () => void;
  readonly onTrouble: (error: unknown) => void;
}

/** PostgreSQL finds what is different in every answer by its place: with many more it takes longer than it saves. */
const MAX_RECORDS_PER_COMMIT = 500;

export class Worker {
  readonly #options: WorkerOptions;
  readonly #records: Batcher<{ epoch: number; item: RecordItem }, 'recorded' | 'lease_lost'>;
  readonly #releases: Batcher<Job, undefined>;
  readonly #cutOff = new AbortController();
  readonly #giveUp = new AbortController();

  constructor(options: WorkerOptions) {
    this.#options = options;
    // Every handler that runs listens: many of them are no leak, and Node would warn of one.
    setMaxListeners(0, this.#cutOff.signal);
    const { batchesAtOnce: atOnce } = options.store;
    this.#records = new Batcher({ maxItems: MAX_RECORDS_PER_COMMIT, atOnce }, (entries) => this.#record(entries));
    this.#releases = new Batcher({ maxItems: MAX_RECORDS_PER_COMMIT }, (jobs) => this.#release(jobs));
  }

  async work(job: Job): Promise<JobEnd> {
    const target = this.#known(job) ?? (await this.#target(job).catch((error) => this.#drop(job, error)));
    if (target === undefined || !this.#canMake(target)) {
      this.#options.onFinished(job, true);
      return this.release(job);
    }
    const received = target.forwardAs && (job.delivery.received ?? {});
    const startedAt = this.#options.clock.now();
    if (this.#isTransactional(target)) return this.#transact(job, target, received ?? {});
    let outcome: Outcome;
    try {
      outcome = await this.#attempt(job, target, received, startedAt);
    } catch (error) {
      outcome = unexpected(error);
    }
    // Concluded and recorded here, not in a function that waits by itself: every delivery passes.
    const item = this.#conclude(job, target, startedAt, outcome, true);
    return this.#ended(await this.#records.add({ epoch: job.epoch, item }), job, item, target, received);
  }

  #attempt(job: Job, target: Target, received: Received | undefined, startedAt: number): Outcome | Promise<Outcome> {
    const { signal } = this.#cutOff;
    if (target.kind === 'handler') return handle(job, target, received ?? {}, signal, this.#options);
    return send(job, target, received, startedAt, signal, this.#options);
  }

  #canMake({ kind, endpoint, health }: Target): boolean {
    return health.status === 'active' && (kind === 'http' || this.#options.handlers.has(endpoint.id));
  }

  #isTransactional({ kind, endpoint }: Target): boolean {
    const { handlers, store } = this.#options;
    return kind === 'handler' && handlers.isTransactional(endpoint.id) && store.transact !== undefined;
  }

  /**
   * Handled and recorded in one commit; what failed is rolled back, and recorded as any other failure. Without a
   * transaction to run in nothing was attempted: that is waited for, and given back at the cut-off.
   */
  async #transact(job: Job, target: Target, received: Received): Promise<JobEnd> {
    const { store, clock } = this.#options;
    const { signal } = this.#cutOff;
    let startedAt: number | undefined;
    let outcome: Outcome | undefined;
    let item: RecordItem | undefined;
    const input = { epoch: job.epoch, now: () => clock.now(), timeoutMs: target.policy.timeouts.totalMs };
    const run = async () => {
      try {
        return await store.transact?.(input, async (client) => {
          if (signal.aborted) return undefined;
          startedAt = clock.now();
          outcome = await handle(job, target, received, signal, this.#options, client);
          item = conclude(job, target, startedAt, outcome, this.#options);
          return item.attempt.decision.kind === 'delivered' ? item : undefined;
        });
      } catch (error) {
        if (startedAt === undefined) throw error;
        // Not known to be committed. If it was, the lease is gone and what is recorded next changes nothing.
        outcome = { kind: 'failure', error: 'database', message: describeError(error), durationMs: 0 };
        return undefined;
      }
    };
    const output = await persist(run, clock, signal, this.#options.onTrouble).catch(() => undefined);
    if (startedAt === undefined || outcome === undefined) {
      this.#options.onFinished(job, true);
      return this.release(job);
    }
    if (output?.result === 'recorded' && item !== undefined) {
      this.#options.onFinished(job, true);
      if (output.endpoints.length > 0) this.#options.onEndpoints(output.endpoints);
      this.#options.onRecorded(job, item, target, received);
      const { attempt, scheduleAttempts } = item;
      return { kind: 'recorded', attempt, scheduleAttempts, maxAttempts: target.maxAttempts };
    }
    if (output?.result === 'lease_lost') {
      this.#options.onFinished(job, true);
      return { kind: 'lost' };
    }
    if (output?.result === 'ended') outcome = endedInside(outcome);
    return this.#finish(job, target, startedAt, outcome, true, received);
  }

  /** Ends a job that another process broke off. */
  async interrupt(job: Job, message: string): Promise<JobEnd> {
    const target = this.#known(job) ?? (await this.#target(job));
    if (target === undefined) return this.release(job);
    return this.#finish(job, target, this.#options.clock.now(), interrupted(message), false);
  }

  /** Gives a job back that was never sent. */
  async release(job: Job): Promise<JobEnd> {
    await this.#releases.add(job);
    this.#options.onReleased();
    return { kind: 'released' };
  }

  /** Resolves when all that was concluded is written. */
  async idle(): Promise<void> {
    await Promise.all([this.#records.idle(), this.#releases.idle()]);
  }

  /** Ends every attempt in flight as interrupted. */
  cutOff(): void {
    this.#cutOff.abort();
  }

  /** Gives up writing what the store does not take: its leases end with this process. */
  abandon(): void {
    this.#giveUp.abort();
  }

  async #finish(
    job: Job,
    target: Target,
    startedAt: number,
    outcome: Outcome,
    heldSlot: boolean,
    received?: Received,
  ): Promise<JobEnd> {
    const item = this.#conclude(job, target, startedAt, outcome, heldSlot);
    return this.#ended(await this.#records.add({ epoch: job.epoch, item }), job, item, target, received);
  }

  #conclude(job: Job, target: Target, startedAt: number, outcome: Outcome, heldSlot: boolean): RecordItem {
    const item = conclude(job, target, startedAt, outcome, this.#options);
    if (heldSlot) this.#options.onFinished(job, item.attempt.decision.kind === 'delivered');
    return item;
  }

  #ended(
    result: 'recorded' | 'lease_lost',
    job: Job,
    item: RecordItem,
    target: Target,
    received: Received | undefined,
  ): JobEnd {
    if (result === 'lease_lost') return { kind: 'lost' };
    this.#options.onRecorded(job, item, target, received);
    const { attempt, scheduleAttempts } = item;
    return { kind: 'recorded', attempt, scheduleAttempts, maxAttempts: target.maxAttempts };
  }

  #known({ delivery }: Job): Target | undefined {
    return this.#options.directory.peek(delivery.applicationId)?.targets.get(delivery.destinationId);
  }

  async #target({ delivery }: Job): Promise<Target | undefined> {
    // Nothing is sent yet: at the cut-off this wait ends with the attempts, or the stop would wait for the store.
    const audience = await persist(
      () => this.#options.directory.audience(delivery.applicationId),
      this.#options.clock,
      this.#cutOff.signal,
      this.#options.onTrouble,
    );
    return audience?.targets.get(delivery.destinationId);
  }

  /** At the stop of an engine whose store is gone: the slot is freed, and the lease ends with the process. */
  #drop(job: Job, error: unknown): never {
    this.#options.onFinished(job, false);
    throw error;
  }

  async #record(
    entries: readonly { epoch: number; item: RecordItem }[],
  ): Promise<readonly ('recorded' | 'lease_lost')[]> {
    const results: ('recorded' | 'lease_lost')[] = [];
    // A node that was fenced and joined again may still hold jobs of its former epoch.
    for (const { epoch, run } of runsOf(entries)) {
      const output = await this.#persist(() =>
        this.#options.store.record({ epoch, now: this.#options.clock.now(), items: run.map(({ item }) => item) }),
      );
      results.push(...output.results);
      if (output.endpoints.length > 0) this.#options.onEndpoints(output.endpoints);
    }
    return results;
  }

  async #release(jobs: readonly Job[]): Promise<readonly undefined[]> {
    for (const { epoch, run } of runsOf(jobs)) {
      const ids = run.map((job) => job.delivery.id);
      await this.#persist(() => this.#options.store.release({ epoch, now: this.#options.clock.now(), ids }));
    }
    return jobs.map(() => undefined);
  }

  #persist<T>(operation: () => Promise<T>): Promise<T> {
    return persist(operation, this.#options.clock, this.#giveUp.signal, this.#options.onTrouble);
  }
}

/** Neighbours of one epoch together. */
function runsOf<T extends { epoch: number }>(entries: readonly T[]): { epoch: number; run: T[] }[] {
  const runs: { epoch: number; run: T[] }[] = [];
  for (const entry of entries) {
    const last = runs.at(-1);
    if (last?.epoch === entry.epoch) last.run.push(entry);
    else runs.push({ epoch: entry.epoch, run: [entry] });
  }
  return runs;
}
