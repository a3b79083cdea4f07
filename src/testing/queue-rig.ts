/** Engines on one store and one queue of a real Redis, each with workers of its own, and a look into the queue. */
import { Queue } from 'bullmq';
import { Cluster, Redis } from 'ioredis';
import { type Clock, systemClock } from '../clock.ts';
import { parseRedisUrl } from '../config/index.ts';
import { createBullmqDispatch } from '../dispatch/bullmq/index.ts';
import { type JobData, type JobResult, QUEUE_NAME } from '../dispatch/bullmq/job.ts';
import type { Engine, EngineEvent, EngineOptions } from '../engine/index.ts';
import { createIds } from '../ids.ts';
import type { Policy } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import { createEngineRig, type EngineRig } from './engine-rig.ts';
import { openMemoryStore, openPostgresTestStore } from './test-store.ts';

export interface QueueRig extends EngineRig {
  readonly queue: Queue<JobData, JobResult>;
  readonly prefix: string;
  /** One more node: its own engine and its own workers. */
  node(options?: Partial<EngineOptions>): Promise<Engine>;
  trouble(): string[];
}

export interface QueueRigOptions extends Partial<EngineOptions> {
  readonly clock?: Clock;
  readonly policy?: Policy;
  readonly url?: string;
}

/** The stores that every test of the queue runs on. */
export const STORES: readonly (readonly [string, () => Promise<Store>])[] = [
  ['SQLite', openMemoryStore],
  ['PostgreSQL', openPostgresTestStore],
];

export function sharedRedisUrl(): string {
  const url = process.env.POSTHORN_TEST_REDIS_URL;
  if (url === undefined) throw new Error('POSTHORN_TEST_REDIS_URL is not set: run the tests with vitest');
  return url;
}

const uniqueNames = createIds(() => systemClock.now());

export async function createQueueRig(
  openStore: () => Promise<Store>,
  options: QueueRigOptions = {},
): Promise<QueueRig> {
  const { url = sharedRedisUrl(), clock = systemClock, ...rest } = options;
  const prefix = `{${uniqueNames.next('node')}}`;
  const parsed = parseRedisUrl(url);
  if ('refused' in parsed) throw new Error(parsed.refused);
  const location = parsed.value;
  const dispatch = (maxInFlight = 1024) => createBullmqDispatch({ location, prefix, clock, maxInFlight });
  const store = await openStore();
  const rig = await createEngineRig({ clock, store, ...rest, dispatch: dispatch(rest.maxInFlight) });
  const client = location.cluster
    ? new Cluster([...location.nodes])
    : new Redis({ ...location.nodes[0], maxRetriesPerRequest: null });
  client.on('error', () => {});
  const queue = new Queue<JobData, JobResult>(QUEUE_NAME, { connection: client, prefix });
  queue.on('error', () => {});
  return {
    ...rig,
    queue,
    prefix,
    async node(more = {}) {
      const engine = rig.secondEngine({ ...more, dispatch: dispatch(more.maxInFlight) });
      await engine.start();
      return engine;
    },
    trouble: () => rig.events.flatMap((event: EngineEvent) => (event.kind === 'trouble' ? [String(event.error)] : [])),
    async close() {
      await rig.close();
      await store.close();
      client.disconnect();
    },
  };
}
