import { Queue, Worker } from 'bullmq';
import type { Clock } from '../../clock.ts';
import type { RedisLocation } from '../../config/index.ts';
import { describeError, PosthornError } from '../../errors.ts';
import type { Dispatch, Hands, Work } from '../dispatch.ts';
import { connect, type RedisClient } from './connect.ts';
import { type DeliveryJob, type JobData, type JobResult, QUEUE_NAME, toJob } from './job.ts';
import { createJobRunner } from './job-runner.ts';
import { Offers } from './offers.ts';
import { Turns } from './turns.ts';

export interface BullmqOptions {
  readonly location: RedisLocation;
  /** What the keys begin with; hash-tagged, so that a cluster keeps them on one node. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Requests that the node may have under way. */
  readonly maxInFlight: number;
}

const GRACE_MS = 5000;
/** A node that dies is found out by its lease long before; a stalled job that comes back ends at once. */
const LOCK_MS = 30_000;
const STALLS_ALLOWED = 1000;
const RETRY_COMMAND_MS = 500;
/** Jobs that are being leased or settled hold a place too, for a moment. */
const IN_PASSING = 256;
/**
 * A worker of BullMQ fetches jobs for all its places before it begins with the first. So it gets only a few more places
 * than it has jobs: with all of them at once, the first of a burst waited for 2,300 round trips.
 */
const FETCHED_AHEAD = 32;
/**
 * Places are taken away again only beyond so many: a job that ends fetches the next one with its result, in one round trip,
 * as long as there are more places than jobs, and whole batches end at once.
 */
const FREE_PLACES = 256;
const REPORT_EVERY_MS = 60_000;
/** By then an outage that one connection noticed first is known to all. */
const OUTAGE_SHOWS_MS = 1000;

export function createBullmqDispatch(options: BullmqOptions): Dispatch {
  const { clock, location, prefix, maxInFlight } = options;
  const closed = new AbortController();
  let producer: RedisClient | undefined;
  let workerClient: RedisClient | undefined;
  let queue: Queue<JobData, JobResult> | undefined;
  let worker: Worker<JobData, JobResult> | undefined;
  let hands: Hands | undefined;
  let lastError = 'the connection was closed';
  const turns = new Turns();
  const offers = new Offers({ clock, add, onUp, onAway });

  async function add(work: readonly Work[]): Promise<void> {
    const ready = await readyQueue();
    const now = clock.now();
    if (work.length > 0) await ready.addBulk(work.map((each) => toJob(each, now, turns.next(each.destinationId, now))));
  }

  /** BullMQ gives a queue one chance to become ready: one whose connection broke meanwhile is made anew. */
  async function readyQueue(): Promise<Queue<JobData, JobResult>> {
    if (producer === undefined) throw new Error('not started');
    await producer.ping();
    if (queue !== undefined) return queue;
    const fresh = new Queue<JobData, JobResult>(QUEUE_NAME, { connection: producer, prefix });
    fresh.on('error', noteError);
    try {
      await fresh.waitUntilReady();
    } catch (error) {
      await fresh.close().catch(noteError);
      throw error;
    }
    queue = fresh;
    return fresh;
  }

  let wasAway = false;

  function onUp(): void {
    hands?.onChange();
    if (wasAway) hands?.onRestored('Redis is back: deliveries go through the queue again');
  }

  function onAway(reason: string): void {
    wasAway = true;
    hands?.onChange();
    // Without the cause: a client's error may carry the password of its AUTH.
    const message = `Redis is away (${reason}). Until it is back, deliveries go on through the store alone.`;
    hands?.onTrouble(new PosthornError('queue_unavailable', message));
  }

  function noteError(error: unknown): void {
    lastError = describeError(error);
  }

  let quietUntil = Number.NEGATIVE_INFINITY;

  /** What fails because Redis goes away or has forgotten a job is known or harmless; the rest is said now and then. */
  function onWorkerError(error: Error & { code?: unknown }): void {
    noteError(error);
    const forgotten = typeof error.code === 'number';
    if (forgotten || clock.now() < quietUntil) return;
    quietUntil = clock.now() + REPORT_EVERY_MS;
    clock.after(OUTAGE_SHOWS_MS, () => {
      if (!offers.isUp) quietUntil = Number.NEGATIVE_INFINITY;
      else hands?.onTrouble(new PosthornError('queue_unavailable', `A worker of the queue failed: ${error.message}`));
    });
  }

  function startWorker(take: NonNullable<Hands['take']>): void {
    workerClient = connect(location, 'worker', closed.signal);
    workerClient.on('error', noteError);
    const run = createJobRunner({ take, offer: (work) => offers.offer(work) });
    const most = 2 * maxInFlight + IN_PASSING;
    let underWay = 0;
    const counted = async (job: DeliveryJob, token: string | undefined): Promise<JobResult> => {
      underWay += 1;
      makeRoom();
      try {
        return await run(job, token);
      } finally {
        underWay -= 1;
        makeRoom();
      }
    };
    const makeRoom = () => {
      const free = underWay === 0 ? FETCHED_AHEAD : FREE_PLACES;
      const places = Math.max(underWay + FETCHED_AHEAD, Math.min(started.concurrency, underWay + free));
      started.concurrency = Math.min(most, places);
    };
    const started = new Worker<JobData, JobResult>(QUEUE_NAME, counted, {
      connection: workerClient,
      prefix,
      concurrency: FETCHED_AHEAD,
      lockDuration: LOCK_MS,
      maxStalledCount: STALLS_ALLOWED,
      runRetryDelay: RETRY_COMMAND_MS,
    });
    started.on('error', onWorkerError);
    worker = started;
  }

  return {
    graceMs: GRACE_MS,
    get carries() {
      return offers.isUp;
    },
    async start(given) {
      hands = given;
      const client = connect(location, 'producer', closed.signal);
      producer = client;
      client.on('error', noteError);
      client.on('ready', () => offers.connected());
      client.on('close', () => offers.lost(lastError));
      const firstTry = new Promise<void>((resolve) => {
        client.once('ready', resolve);
        client.once('close', resolve);
      });
      if (given.take !== undefined) startWorker(given.take);
      await firstTry;
      await offers.settled();
    },
    offer(work) {
      offers.offer(work);
    },
    async stop(giveUp) {
      const ended = worker?.close().catch(noteError);
      await Promise.race([ended, aborted(giveUp)]);
      closed.abort();
      await Promise.race([offers.stop(), aborted(giveUp)]);
      await queue?.close().catch(noteError);
      producer?.disconnect();
      workerClient?.disconnect();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
