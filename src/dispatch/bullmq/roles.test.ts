/** A node that only accepts, and one that works: two processes' worth of parts on one database and one queue. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../clock.ts';
import { createIds } from '../../ids.ts';
import { createPosthorn, type Posthorn } from '../../posthorn.ts';
import { createTestSchema, type TestSchema } from '../../testing/postgres-schema.ts';
import { sharedRedisUrl } from '../../testing/queue-rig.ts';
import { type ScriptedReceiver, startReceiver } from '../../testing/scripted-receiver.ts';

/** Well below the time after which workers look for what the queue did not bring. */
const SOON_MS = 3000;
const SOON = { timeout: 15_000 };

let schema: TestSchema;
let api: Posthorn;
let worker: Posthorn;
let receiver: ScriptedReceiver;
let application: string;
let endpoint: string;

beforeEach(async () => {
  schema = await createTestSchema();
  receiver = await startReceiver();
  const redisPrefix = `{${createIds(() => systemClock.now()).next('node')}}`;
  const open = (role: 'api' | 'worker') =>
    createPosthorn({
      store: schema.url,
      postgresPool: 4,
      dispatch: 'bullmq',
      redisUrl: sharedRedisUrl(),
      redisPrefix,
      allowNetworks: ['127.0.0.0/8'],
      role,
      logger: false,
    });
  [api, worker] = [await open('api'), await open('worker')];
  application = (await api.applications.create({ name: 'one' })).record.id;
  endpoint = (await api.endpoints.create(application, { url: receiver.url, policy: 'public-api' })).id;
});

afterEach(async () => {
  await api.close(0);
  await worker.close(0);
  await receiver.close();
  await schema.drop();
});

const publish = async () => {
  const sent = await api.publish({ application, eventType: 'a.b', payload: { n: 1 } });
  return sent.id;
};

async function soon(count: number, act: () => Promise<unknown>): Promise<void> {
  const startedAt = Date.now();
  await act();
  await receiver.arrived(count);
  expect(Date.now() - startedAt).toBeLessThan(SOON_MS);
}

describe('with the roles api and worker', () => {
  it('BUL-02 the worker sends what the api node accepts', async () => {
    await soon(1, publish);
  });

  it('BUL-02 a resend that the api node is asked for is sent at once', async () => {
    const message = await publish();
    await receiver.arrived(1);
    await expect.poll(async () => (await api.served.store.counts({ most: 9 })).leased, SOON).toBe(0);
    await soon(2, () => api.deliveries.resend(application, message, endpoint));
  });

  it('BUL-02 SUB-11 a dead letter that is retried on the api node is sent at once', async () => {
    receiver.answer(404, 200);
    await publish();
    await expect.poll(async () => (await api.served.store.counts({ most: 9 })).dead, SOON).toBe(1);
    const [dead] = (await api.deadLetters.list()).data;
    await soon(2, () => api.deadLetters.retry(dead?.delivery.id ?? ''));
  });

  it('BUL-02 SPI-08 an endpoint that is resumed on the api node gets at once what was held for it', async () => {
    await api.endpoints.pause(application, endpoint, 'maintenance');
    await publish();
    await soon(1, () => api.endpoints.resume(application, endpoint));
  });
});
