/** Many workers on one queue: who gets what, that nobody waits for others, and that a stop gives back. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseRedisUrl } from '../../config/index.ts';
import type { Engine } from '../../engine/index.ts';
import { presets } from '../../policy/index.ts';
import { createQueueRig, type QueueRig, type QueueRigOptions, STORES } from '../../testing/queue-rig.ts';
import { type ScriptedReceiver, startReceiver } from '../../testing/scripted-receiver.ts';
import { type RedisCluster, startRedisCluster } from '../../testing/servers.ts';
import { inspectRedis } from './index.ts';

const SOON = { timeout: 15_000 };

describe.each(STORES)('on %s', (_, openStore) => {
  let rig: QueueRig;
  let receiver: ScriptedReceiver;
  let cluster: RedisCluster | undefined;
  const setUp = async (options: QueueRigOptions = {}) => {
    rig = await createQueueRig(openStore, { policy: presets.quick.policy, ...options });
  };

  beforeEach(async () => {
    receiver = await startReceiver();
  });

  afterEach(async () => {
    await rig.close();
    await receiver.close();
    await cluster?.stop();
    cluster = undefined;
  });

  /** Counts the attempts that a node records. */
  function watch(engine: Engine): { attempts: number } {
    const seen = { attempts: 0 };
    engine.on(({ kind }) => {
      if (kind === 'attempt') seen.attempts += 1;
    });
    return seen;
  }

  it('BUL-02 two nodes share one queue: both work, and every message arrives once', async () => {
    await setUp();
    const [here, there] = [watch(rig.engine), watch(await rig.node())];
    await rig.endpoint(receiver.url);
    receiver.answer((response) => setTimeout(() => response.writeHead(200).end(), 5));
    const ids = new Set<string>();
    for (let n = 0; n < 200; n++) ids.add((await rig.publish({ n })).message.id);
    await expect.poll(() => here.attempts + there.attempts, SOON).toBe(200);
    expect(receiver.arrivals).toHaveLength(200);
    expect(new Set(receiver.arrivals.map(({ headers }) => headers['webhook-id']))).toEqual(ids);
    expect(here.attempts).toBeGreaterThan(0);
    expect(there.attempts).toBeGreaterThan(0);
  });

  it('BUL-02 a node that only accepts leaves the work to the others', async () => {
    await setUp({ takesWork: false });
    const here = watch(rig.engine);
    await rig.endpoint(receiver.url);
    await Promise.all(Array.from({ length: 50 }, (_each, n) => rig.publish({ n })));
    await expect.poll(() => rig.queue.getJobCounts('waiting', 'active'), SOON).toEqual({ waiting: 50, active: 0 });
    expect(receiver.arrivals).toHaveLength(0);
    const there = watch(await rig.node({ takesWork: true }));
    await expect.poll(() => there.attempts, SOON).toBe(50);
    expect(here.attempts).toBe(0);
  });

  it('ALL-03 a dead endpoint with hundreds of jobs does not delay a healthy one', async () => {
    await setUp({ maxInFlight: 64 });
    const silent = await startReceiver(() => {});
    const dead = await rig.endpoint(silent.url, { eventTypes: ['to.dead'] });
    await rig.endpoint(receiver.url, { eventTypes: ['to.healthy'] });
    await Promise.all(Array.from({ length: 500 }, (_each, n) => rig.publish({ n }, { eventType: 'to.dead' })));
    await silent.arrived(4);
    const startedAt = Date.now();
    await Promise.all(Array.from({ length: 50 }, (_each, n) => rig.publish({ n }, { eventType: 'to.healthy' })));
    await receiver.arrived(50);
    expect(Date.now() - startedAt).toBeLessThan(3000);
    expect(silent.mostAtOnce).toBeLessThanOrEqual(4);
    // The others' turn comes too, and none of them holds a place of the worker's for long.
    await expect.poll(() => rig.queue.getJobCountByTypes('waiting', 'prioritized'), SOON).toBe(0);
    await expect.poll(() => rig.queue.getActiveCount(), SOON).toBeLessThan(64);
    const { items } = await rig.store.listDeliveries({ destinationId: dead.id, limit: 500, order: 'ascending' });
    expect(items.every(({ state }) => state === 'pending' || state === 'leased')).toBe(true);
    await rig.engine.stop(0);
    await silent.close();
  });

  it('ALL-03 a job for one endpoint is taken before the rest of a burst that was queued for another', async () => {
    await setUp({ takesWork: false });
    const other = await startReceiver();
    await rig.endpoint(receiver.url, { eventTypes: ['burst'] });
    const single = await rig.endpoint(other.url, { eventTypes: ['single'] });
    await Promise.all(Array.from({ length: 600 }, (_each, n) => rig.publish({ n }, { eventType: 'burst' })));
    await rig.publish({ n: 600 }, { eventType: 'single' });
    const queued = () => rig.queue.getJobCountByTypes('waiting', 'prioritized');
    await expect.poll(queued, SOON).toBe(601);
    const there = watch(await rig.node({ takesWork: true }));
    await expect.poll(() => there.attempts, SOON).toBe(601);
    await expect.poll(() => rig.queue.getCompletedCount(), SOON).toBe(601);
    const jobs = await rig.queue.getCompleted(0, 1000);
    const takenAt = (job: (typeof jobs)[number] | undefined) => job?.processedOn ?? Number.NaN;
    const singleJob = jobs.find(({ data }) => data.destinationId === single.id);
    expect(jobs.filter((job) => takenAt(job) < takenAt(singleJob)).length).toBeLessThan(250);
    await other.close();
  });

  it('a backlog beyond what its lane may have at once is worked off completely, though its jobs have ended', async () => {
    await setUp();
    await rig.endpoint(receiver.url, { maxInFlight: 2 });
    await Promise.all(Array.from({ length: 300 }, (_each, n) => rig.publish({ n })));
    await expect.poll(() => rig.store.counts({ most: 1000 }), SOON).toMatchObject({ pending: 0, leased: 0 });
    expect(receiver.arrivals).toHaveLength(300);
    expect(receiver.mostAtOnce).toBeLessThanOrEqual(2);
  });

  it('BUD-07 at a stop the interrupted go back into the queue, and another node sends them at once', async () => {
    await setUp();
    await rig.endpoint(receiver.url);
    receiver.answer(() => {});
    const { message } = await rig.publish();
    await receiver.arrived(1);
    receiver.answer(200);
    const there = watch(await rig.node());
    await rig.engine.stop(0);
    await expect.poll(() => there.attempts, SOON).toBe(1);
    const { items } = await rig.store.listAttempts({ messageId: message.id, limit: 10, order: 'ascending' });
    expect(items.map(({ error, status }) => error ?? status)).toEqual(['interrupted', 200]);
    await expect.poll(() => rig.queue.getCompletedCount(), SOON).toBe(1);
    expect(await rig.queue.getJobCounts('active', 'waiting', 'delayed')).toMatchObject({
      active: 0,
      waiting: 0,
      delayed: 0,
    });
  });

  it('a stop waits for what is in flight and leaves the rest of the queue to others', async () => {
    await setUp({ maxInFlight: 2 });
    await rig.endpoint(receiver.url);
    const answers: (() => void)[] = [];
    receiver.answer((response) => answers.push(() => response.writeHead(200).end()));
    for (let n = 0; n < 10; n++) await rig.publish({ n });
    await receiver.arrived(2);
    const stopped = rig.engine.stop(20_000);
    for (const answer of answers) answer();
    await stopped;
    expect(await rig.store.counts({ most: 100 })).toMatchObject({ leased: 0, pending: 8 });
    receiver.answer(200);
    await rig.node();
    await receiver.arrived(10);
  });

  it('BUD-07 what a dead node had in flight comes back through the queue', async () => {
    await setUp();
    await rig.endpoint(receiver.url);
    receiver.answer(() => {}, 200);
    const { message } = await rig.publish();
    await receiver.arrived(1);
    await rig.node({ leaseMs: 400 });
    // As if its process had ended: its lease is over, and its request is never heard of again.
    await rig.store.leave({ epoch: 1 });
    await receiver.arrived(2);
    await expect.poll(async () => (await rig.delivery(message.id)).state, SOON).toBe('delivered');
    const { id } = await rig.delivery(message.id);
    // Whoever was faster than this job, it was there to be taken.
    await expect.poll(async () => (await rig.queue.getJob(`${id}-1`))?.data.deliveryId, SOON).toBe(id);
  });

  it('BUL-02 works on a Redis Cluster of three nodes', async () => {
    cluster = await startRedisCluster();
    const url = `redis://${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
    const parsed = parseRedisUrl(url);
    if ('refused' in parsed) throw new Error(parsed.refused);
    expect(await inspectRedis(parsed.value)).toMatchObject({ evictionPolicy: 'noeviction', appendsToDisk: false });
    await setUp({ url });
    await rig.endpoint(receiver.url);
    receiver.answer(500, 200);
    await Promise.all(Array.from({ length: 30 }, (_each, n) => rig.publish({ n })));
    await receiver.arrived(31);
    await expect.poll(() => rig.queue.getJobCounts(), SOON).toMatchObject({ waiting: 0, active: 0, delayed: 0 });
    expect(await rig.queue.getCompletedCount()).toBeGreaterThanOrEqual(30);
    expect(rig.trouble()).toEqual([]);
  });
});
