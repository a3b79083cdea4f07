/** The library as it ships, with a queue: the settings in code, and what happens to the password in them. */
import { inspect } from 'node:util';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { createPosthorn as Create, PosthornOptions } from '../src/posthorn.ts';
import { startReceiver } from '../src/testing/scripted-receiver.ts';
import { type Server, startRedis } from '../src/testing/servers.ts';

const PASSWORD = 'hunter2-hunter2';

describe('createPosthorn', () => {
  let redis: Server;
  let createPosthorn: typeof Create;
  beforeAll(async () => {
    const built = '../dist/posthorn.js';
    ({ createPosthorn } = (await import(built)) as { createPosthorn: typeof Create });
    redis = await startRedis({ settings: { requirepass: PASSWORD } });
  });
  afterAll(() => redis.stop());

  const options = (password: string): PosthornOptions => ({
    store: 'sqlite::memory:',
    dispatch: 'bullmq',
    redisUrl: `redis://:${password}@127.0.0.1:${redis.port}`,
    allowNetworks: ['127.0.0.0/8'],
  });

  async function deliverOne(posthorn: Awaited<ReturnType<typeof Create>>): Promise<void> {
    const receiver = await startReceiver();
    const { record: application } = await posthorn.applications.create({ name: 'one' });
    await posthorn.endpoints.create(application.id, { url: receiver.url });
    await posthorn.publish({ application: application.id, eventType: 'a.b', payload: { n: 1 } });
    await receiver.arrived(1);
    await receiver.close();
  }

  it('BUL-02 delivers through the queue that it is told of, under its prefix', async () => {
    const posthorn = await createPosthorn({ ...options(PASSWORD), redisPrefix: '{library}', logger: false });
    await deliverOne(posthorn);
    await posthorn.close();
    const connection = { port: redis.port, password: PASSWORD };
    const queue = new Queue('deliveries', { connection, prefix: '{library}' });
    expect(await queue.getJobCounts()).toMatchObject({ completed: 1, active: 0 });
    await queue.close();
    expect(inspect(posthorn, { depth: 5 }) + JSON.stringify(posthorn.config)).not.toContain(PASSWORD);
  });

  it('a wrong password is said without the password, and deliveries go on', async () => {
    const lines: unknown[] = [];
    const note = (...args: unknown[]) => void lines.push(args);
    const events: unknown[] = [];
    const wrong = 'not-the-password-at-all';
    const posthorn = await createPosthorn({
      ...options(wrong),
      logger: { debug: note, info: note, warn: note, error: note },
    });
    posthorn.on((event) => events.push(event));
    await deliverOne(posthorn);
    await posthorn.close();
    const told = inspect([lines, events], { depth: 10 });
    expect(told).toContain('WRONGPASS');
    expect(told).not.toContain(wrong);
  });
});
