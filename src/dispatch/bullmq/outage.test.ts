/** Redis flushed, killed, restarted, stopped and away: nothing accepted is lost, and accepting goes on. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Policy } from '../../model/index.ts';
import { presets } from '../../policy/index.ts';
import { createQueueRig, type QueueRig, STORES } from '../../testing/queue-rig.ts';
import { type ScriptedReceiver, startReceiver } from '../../testing/scripted-receiver.ts';
import { type Server, startRedis } from '../../testing/servers.ts';

const SOON = { timeout: 15_000 };
const policy: Policy = {
  ...presets.quick.policy,
  schedule: { kind: 'explicit', delaysMs: [100, 200, 400, 800, 1600] },
  jitter: { kind: 'none' },
};

describe.each(STORES)('on %s', (_, openStore) => {
  let redis: Server;
  let rig: QueueRig;
  let receiver: ScriptedReceiver;

  async function setUp(): Promise<void> {
    rig = await createQueueRig(openStore, { url: redis.url, policy });
  }

  beforeEach(async () => {
    redis = await startRedis();
    receiver = await startReceiver();
  });

  afterEach(async () => {
    await rig.close();
    await receiver.close();
    await redis.stop();
  });

  /** The endpoint's own log is the witness: each message's id, as often as it came. */
  const arrivedIds = () => new Set(receiver.arrivals.map(({ headers }) => String(headers['webhook-id'])));
  const isDelivered = async (ids: readonly string[]) => {
    const states = await Promise.all(ids.map(async (id) => (await rig.delivery(id)).state));
    return states.every((state) => state === 'delivered');
  };
  const publishMany = async (count: number) =>
    (await Promise.all(Array.from({ length: count }, (_each, n) => rig.publish({ n })))).map(
      ({ message }) => message.id,
    );
  const flush = async () => {
    const client = new Redis(redis.url);
    await client.flushall();
    client.disconnect();
  };

  it('ALL-01 BUL-02 FLUSHALL in full flight loses nothing', async () => {
    await setUp();
    await rig.endpoint(receiver.url);
    // Every third message fails at first: jobs wait, are active and are delayed when they vanish.
    const seen = new Set<unknown>();
    receiver.answer((response, { headers }) => {
      const isFirst = !seen.has(headers['webhook-id']);
      const status = isFirst && seen.add(headers['webhook-id']).size % 3 === 0 ? 500 : 200;
      setTimeout(() => response.writeHead(status).end(), 20);
    });
    const first = await publishMany(150);
    await receiver.arrived(20);
    await flush();
    const second = await publishMany(50);
    await receiver.arrived(80);
    await flush();
    const ids = [...first, ...second];
    await expect.poll(() => isDelivered(ids), { timeout: 25_000 }).toBe(true);
    expect([...arrivedIds()].sort()).toEqual([...ids].sort());
  }, 40_000);

  it('ALL-01 a Redis that is killed and comes back empty loses nothing, and carries again', async () => {
    await setUp();
    await rig.endpoint(receiver.url);
    receiver.answer((response) => setTimeout(() => response.writeHead(200).end(), 20));
    const before = await publishMany(100);
    await receiver.arrived(10);
    await redis.kill();
    const during = await publishMany(50);
    await redis.restart();
    await rig.event('restored');
    const after = await publishMany(50);
    const ids = [...before, ...during, ...after];
    await expect.poll(() => isDelivered(ids), { timeout: 25_000 }).toBe(true);
    expect(arrivedIds().size).toBe(200);
    await expect.poll(() => rig.queue.getCompletedCount(), SOON).toBeGreaterThan(0);
  }, 40_000);

  it('ALL-01 while Redis is away messages are accepted and delivered at once, retries included, with one report', async () => {
    await setUp();
    await rig.endpoint(receiver.url);
    await redis.kill();
    await rig.event('trouble');
    const startedAt = Date.now();
    receiver.answer(500, 200);
    const ids = await publishMany(20);
    expect(Date.now() - startedAt).toBeLessThan(2000);
    await receiver.arrived(21);
    await expect.poll(() => isDelivered(ids), SOON).toBe(true);
    expect(Date.now() - startedAt).toBeLessThan(4500);
    // Several tries to connect again have failed by now.
    await sleep(1500);
    expect(rig.trouble()).toEqual([expect.stringMatching(/Redis is away \(.*\)/)]);
    await redis.restart();
    await rig.event('restored');
    await rig.publish();
    await expect.poll(() => rig.queue.getCompletedCount(), SOON).toBeGreaterThan(0);
    expect(rig.trouble()).toHaveLength(1);
  });

  it('starts without Redis, delivers by the store, and uses the queue from when it is there', async () => {
    await redis.kill();
    await setUp();
    await rig.endpoint(receiver.url);
    await rig.publish();
    await receiver.arrived(1);
    expect(rig.trouble()).toHaveLength(1);
    await redis.restart();
    await rig.event('restored');
    await rig.publish();
    await expect.poll(() => rig.queue.getCompletedCount(), SOON).toBe(1);
  });

  it('a Redis that hangs delays no publish, and deliveries go on', async () => {
    await setUp();
    await rig.endpoint(receiver.url);
    const pid = redis.pid() ?? 0;
    process.kill(pid, 'SIGSTOP');
    try {
      const startedAt = Date.now();
      await publishMany(20);
      expect(Date.now() - startedAt).toBeLessThan(1000);
      await receiver.arrived(20);
      await rig.publish();
      await receiver.arrived(21);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await rig.event('restored');
  });

  it('a retry that was scheduled before the outage is made on time during it', async () => {
    await setUp();
    await rig.endpoint(receiver.url);
    receiver.answer(500, 500, 500, 500, 200);
    const { message } = await rig.publish();
    await rig.attempts(3);
    await redis.kill();
    await rig.attempts(5);
    expect((await rig.delivery(message.id)).state).toBe('delivered');
  });

  it('stops soon although Redis is away, and gives back what it had', async () => {
    await setUp();
    await rig.endpoint(receiver.url);
    receiver.answer(() => {});
    const { message } = await rig.publish();
    await receiver.arrived(1);
    await redis.kill();
    const startedAt = Date.now();
    await rig.engine.stop(0);
    expect(Date.now() - startedAt).toBeLessThan(5000);
    expect((await rig.delivery(message.id)).state).toBe('pending');
  });
});
