import { describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { createIds } from '../ids.ts';
import type { Attempt } from '../model/index.ts';
import { createAddressGuard } from '../outbound/index.ts';
import { createSecretBox } from '../signing/index.ts';
import type { ClaimedDelivery, Store } from '../store/index.ts';
import { openTestStore } from '../testing/test-store.ts';
import { createResources } from './resources.ts';

const COUNT = 2100;
const ids = createIds(() => systemClock.now());

/** Leases everything that is due and lets it die, as an endpoint does that rejects at once. */
async function letDie(store: Store, epoch: number): Promise<void> {
  const now = systemClock.now() + 1;
  const discover = { lanes: 10, room: COUNT };
  const { deliveries } = await store.claim({ epoch, now, lanes: [], discover });
  const items = deliveries.map((delivery) => ({
    attempt: deadAttempt(delivery),
    scheduleAttempts: 1,
    firstAttemptAt: now,
  }));
  await store.record({ epoch, now, items });
}

function deadAttempt({ id, messageId, applicationId, destinationId, eventType, attempts }: ClaimedDelivery): Attempt {
  return {
    id: ids.next('atmpt'),
    deliveryId: id,
    messageId,
    applicationId,
    destinationId,
    eventType,
    number: attempts + 1,
    trigger: 'scheduled',
    url: 'http://127.0.0.1/',
    startedAt: systemClock.now(),
    durationMs: 1,
    status: 404,
    response: '',
    responseTruncated: false,
    decision: { kind: 'dead', cause: 'rejected', reason: '404' },
  };
}

describe('retrying dead letters by filter', () => {
  it('SUB-11 takes each one once, however many there are, even if all die again at once', async () => {
    const store = await openTestStore();
    const { epoch } = await store.join({ now: systemClock.now(), leaseMs: 60_000, name: 'test' });
    let wakes = 0;
    const dying: Store = {
      ...store,
      async redeliver(input) {
        const output = await store.redeliver(input);
        await letDie(store, epoch);
        return output;
      },
    };
    const resources = createResources({
      store: dying,
      engine: { changed: () => {}, wake: () => void wakes++, publish: () => Promise.reject(new Error('not here')) },
      clock: systemClock,
      ids,
      guard: createAddressGuard({ allow: ['127.0.0.0/8'] }),
      secretBox: createSecretBox('a test key of enough length'),
      defaultPolicy: 'quick',
    });
    const { record: application } = await resources.applications.create({ name: 'A', uid: 'a' });
    const endpoint = await resources.endpoints.create('a', { url: 'http://127.0.0.1/' });
    const stored = await store.get({ kind: 'application', idOrName: 'a' });
    const createdAt = systemClock.now();
    const items = Array.from({ length: COUNT }, () => ({
      message: {
        id: ids.next('msg'),
        applicationId: application.id,
        eventType: 'e',
        payload: new Uint8Array(2),
        createdAt,
      },
      fanoutRevision: stored?.fanoutRevision ?? 0,
      deliveries: [{ id: ids.next('dlv'), destinationId: endpoint.id, state: 'pending' as const }],
    }));
    await store.accept({ epoch, now: createdAt, items });
    await letDie(store, epoch);
    expect((await store.counts({ most: 10_000 })).dead).toBe(COUNT);

    expect(await resources.deadLetters.retryAll({ application: 'a' })).toBe(COUNT);
    expect(wakes).toBeGreaterThanOrEqual(3);
    const page = await resources.deliveries.list({ states: ['dead'], limit: 250 });
    expect(page.data.every(({ attempts }) => attempts === 2)).toBe(true);
    expect(await resources.deadLetters.discardAll({ all: true }, 'no more')).toBe(COUNT);
    expect((await store.counts({ most: 10_000 })).dead).toBe(0);
    await store.close();
  });
});
