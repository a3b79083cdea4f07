/** Deliveries on a queue of a real Redis: what a job carries, shows and waits for. */
import { QueueEvents } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../clock.ts';
import { logEvent } from '../../engine/index.ts';
import type { Policy } from '../../model/index.ts';
import { presets } from '../../policy/index.ts';
import { createQueueRig, type QueueRig, STORES, sharedRedisUrl } from '../../testing/queue-rig.ts';
import { type Answer, type ScriptedReceiver, startReceiver } from '../../testing/scripted-receiver.ts';

const quick = presets.quick.policy;
const SOON = { timeout: 10_000 };
/** The preset with a millisecond for every second. */
const inMilliseconds: Policy = {
  ...quick,
  schedule: { kind: 'explicit', delaysMs: [1, 2, 4, 8, 16] },
  jitter: { kind: 'none' },
};

describe.each(STORES)('on %s', (_, openStore) => {
  let rig: QueueRig;
  let receiver: ScriptedReceiver;
  /** How far the engine's clock is ahead of the machine's. */
  let aheadMs: number;
  const clock = { ...systemClock, now: () => Date.now() + aheadMs };

  async function setUp(policy: Policy, ...answers: Answer[]): Promise<void> {
    receiver.answer(...answers);
    rig = await createQueueRig(openStore, { clock, policy });
  }

  beforeEach(async () => {
    aheadMs = 0;
    receiver = await startReceiver();
  });

  afterEach(async () => {
    await rig.close();
    await receiver.close();
  });

  it('BUL-02 a delivery is a job that carries ids only and ends completed', async () => {
    await setUp(quick, 201);
    const endpoint = await rig.endpoint(receiver.url);
    const { message } = await rig.publish();
    await rig.attempts(1);
    const { id } = await rig.delivery(message.id);
    await expect
      .poll(() => rig.queue.getJobCounts(), SOON)
      .toMatchObject({ completed: 1, active: 0, waiting: 0, delayed: 0 });
    const [job] = await rig.queue.getCompleted();
    expect(job).toMatchObject({
      id: `${id}-0`,
      data: { deliveryId: id, destinationId: endpoint.id },
      returnvalue: { result: 'delivered', status: 201, attempt: 1 },
    });
    expect(rig.trouble()).toEqual([]);
  });

  it('BUL-05 keeps a day or a thousand of what is finished, and ten thousand of what failed', async () => {
    await setUp(quick, 200);
    await rig.endpoint(receiver.url);
    await rig.publish();
    await expect.poll(() => rig.queue.getCompletedCount(), SOON).toBe(1);
    const [job] = await rig.queue.getCompleted();
    expect(job?.opts).toMatchObject({
      attempts: 1,
      removeOnComplete: { age: 86_400, count: 1000 },
      removeOnFail: { count: 10_000 },
    });
  });

  it('BUL-02 QueueEvents tell of added, active, delayed and completed', async () => {
    await setUp(inMilliseconds, 500, 200);
    await rig.endpoint(receiver.url);
    const events = new QueueEvents(rig.queue.name, { connection: { url: sharedRedisUrl() }, prefix: rig.prefix });
    const seen: string[] = [];
    for (const name of ['added', 'active', 'delayed', 'completed'] as const) events.on(name, () => seen.push(name));
    await events.waitUntilReady();
    await rig.publish();
    await expect.poll(() => seen, SOON).toContain('completed');
    expect(seen.filter((name) => name !== 'added')).toEqual(['active', 'delayed', 'active', 'completed']);
    await events.close();
  });

  it('BUL-01 one job lives through the schedule: 1, 2, 4, 8 and 16 s plus up to 1 s, then it has failed', async () => {
    await setUp(quick, 503);
    await rig.endpoint(receiver.url);
    const { message } = await rig.publish();
    const { id } = await rig.delivery(message.id);
    for (const [index, seconds] of [1, 2, 4, 8, 16].entries()) {
      await rig.attempts(index + 1);
      await expect.poll(() => rig.queue.getDelayedCount(), SOON).toBe(1);
      const job = await rig.queue.getJob(`${id}-0`);
      const delayMs = (job?.delay ?? 0) - aheadMs;
      expect(delayMs).toBeGreaterThan(seconds * 1000 - 500);
      expect(delayMs).toBeLessThanOrEqual(seconds * 1000 + 1000);
      expect((await rig.delivery(message.id)).dueAt).toBeGreaterThan(clock.now());
      aheadMs += seconds * 1000 + 1000;
      await job?.promote();
    }
    await rig.attempts(6);
    await expect.poll(() => rig.queue.getFailedCount(), SOON).toBe(1);
    const [failed] = await rig.queue.getFailed();
    expect(failed?.id).toBe(`${id}-0`);
    expect(failed?.failedReason).toBe((await rig.delivery(message.id)).reason);
    expect(receiver.arrivals).toHaveLength(6);
    const { logs } = await rig.queue.getJobLogs(`${id}-0`);
    expect(logs).toHaveLength(6);
    expect(logs[0]).toMatch(/^attempt 1 of 6: /);
  });

  it('a job that comes before its time waits on', async () => {
    await setUp(quick, 503);
    await rig.endpoint(receiver.url);
    await rig.publish();
    await rig.attempts(1);
    await expect.poll(() => rig.queue.getDelayedCount(), SOON).toBe(1);
    const [job] = await rig.queue.getDelayed();
    await job?.promote();
    await expect.poll(() => rig.queue.getDelayedCount(), SOON).toBe(1);
    expect(receiver.arrivals).toHaveLength(1);
  });

  it.each<[string, Answer, 'completed' | 'delayed' | 'failed']>([
    ['200', 200, 'completed'],
    ['204', 204, 'completed'],
    ['299', 299, 'completed'],
    ['429', 429, 'delayed'],
    ['500', 500, 'delayed'],
    ['503', 503, 'delayed'],
    ['a broken connection', (response) => response.destroy(), 'delayed'],
    ['a timeout', () => {}, 'delayed'],
    ['400', 400, 'failed'],
    ['401', 401, 'failed'],
    ['404', 404, 'failed'],
    ['422', 422, 'failed'],
  ])('BUL-03 after %s the job is as the preset says', async (_name, answer, state) => {
    await setUp({ ...quick, timeouts: { ...quick.timeouts, totalMs: 200 } }, answer);
    await rig.endpoint(receiver.url);
    await rig.publish();
    await expect.poll(() => rig.queue.getJobCountByTypes(state), SOON).toBe(1);
    expect(await rig.queue.getJobCounts('completed', 'delayed', 'failed')).toMatchObject({ [state]: 1 });
  });

  it('BUL-03 a refused connection is tried again', async () => {
    await setUp(quick);
    const gone = await startReceiver();
    await gone.close();
    await rig.endpoint(gone.url);
    await rig.publish();
    await expect.poll(() => rig.queue.getDelayedCount(), SOON).toBe(1);
  });

  it.each([301, 302, 307, 308])('BUL-04 a %i is followed, with method and body kept', async (status) => {
    await setUp(quick, (response) => response.writeHead(status, { location: '/moved' }).end(), 200);
    await rig.endpoint(receiver.url);
    await rig.publish({ kept: true });
    await expect.poll(() => rig.queue.getCompletedCount(), SOON).toBe(1);
    expect(receiver.arrivals.map(({ path, body }) => [path, body.toString()])).toEqual([
      ['/', '{"kept":true}'],
      ['/moved', '{"kept":true}'],
    ]);
  });

  it('BUL-06 each failed attempt logs attempt, maxAttempts, willRetry and error', async () => {
    const lines: object[] = [];
    const note = (fields: object) => void lines.push(fields);
    await setUp(inMilliseconds, 500);
    rig.engine.on((event) => logEvent({ debug() {}, info() {}, warn: note, error: note }, event));
    await rig.endpoint(receiver.url);
    await rig.publish();
    await expect.poll(() => rig.queue.getFailedCount(), SOON).toBe(1);
    const logged = lines.filter((line) => 'maxAttempts' in line);
    expect(logged).toHaveLength(6);
    for (const [index, line] of logged.entries()) {
      expect(line).toMatchObject({ attempt: index + 1, maxAttempts: 6, willRetry: index < 5, error: 'HTTP 500' });
    }
  });

  it('a dead letter that is tried again by hand is sent at once, and its retries are jobs again', async () => {
    await setUp(quick, 400, 500);
    await rig.endpoint(receiver.url);
    const { message } = await rig.publish();
    await expect.poll(() => rig.queue.getFailedCount(), SOON).toBe(1);
    const { id } = await rig.delivery(message.id);
    await rig.store.redeliver({ now: clock.now(), select: { ids: [id] }, from: ['dead'] });
    rig.engine.wake();
    await receiver.arrived(2);
    await expect.poll(() => rig.queue.getDelayedCount(), SOON).toBe(1);
    expect((await rig.queue.getDelayed())[0]?.id).toBe(`${id}-2`);
  });

  it('what is held for a paused endpoint is sent at once when it is resumed', async () => {
    await setUp(quick, 200);
    const endpoint = await rig.endpoint(receiver.url);
    await rig.store.setStatus({ endpointId: endpoint.id, status: 'paused', reason: 'by hand', now: clock.now() });
    rig.engine.changed();
    for (let n = 0; n < 20; n++) await rig.publish({ n });
    await rig.store.setStatus({ endpointId: endpoint.id, status: 'active', reason: '', now: clock.now() });
    rig.engine.changed();
    const resumedAt = Date.now();
    rig.engine.wake();
    await receiver.arrived(20);
    expect(Date.now() - resumedAt).toBeLessThan(4000);
  });
});
