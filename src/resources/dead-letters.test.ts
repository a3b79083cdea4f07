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

/** An application with an endpoint, and what becomes of the store after each part of a retry. */
async function setUp(afterRedeliver: (rig: { die: (count: number, createdAt?: number) => Promise<void> }) => unknown) {
  const store = await openTestStore();
  const { epoch } = await store.join({ now: systemClock.now(), leaseMs: 60_000, name: 'test' });
  let wakes = 0;
  const watched: Store = {
    ...store,
    async redeliver(input) {
      const output = await store.redeliver(input);
      await letDie(store, epoch);
      await afterRedeliver({ die });
      return output;
    },
  };
  const resources = createResources({
    store: watched,
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

  async function die(count: number, createdAt = systemClock.now(), payload = new Uint8Array(2)): Promise<void> {
    const { next } = createIds(() => createdAt);
    const items = Array.from({ length: count }, () => ({
      message: { id: next('msg'), applicationId: application.id, eventType: 'e', payload, createdAt },
      fanoutRevision: stored?.fanoutRevision ?? 0,
      deliveries: [{ id: next('dlv'), destinationId: endpoint.id, state: 'pending' as const }],
    }));
    await store.accept({ epoch, now: systemClock.now(), items });
    await letDie(store, epoch);
  }

  const dead = async () => (await store.counts({ most: 10_000 })).dead;
  return { store, resources, die, dead, wakes: () => wakes };
}

describe('retrying dead letters by filter', () => {
  it('SUB-11 takes each one once, however many there are, even if all die again at once', async () => {
    const { store, resources, die, dead, wakes } = await setUp(() => {});
    await die(COUNT);
    expect(await dead()).toBe(COUNT);

    expect(await resources.deadLetters.retryAll({ application: 'a' })).toBe(COUNT);
    expect(wakes()).toBeGreaterThanOrEqual(3);
    const page = await resources.deliveries.list({ states: ['dead'], limit: 250 });
    expect(page.data.every(({ attempts }) => attempts === 2)).toBe(true);
    expect(await resources.deadLetters.discardAll({ all: true }, 'no more')).toBe(COUNT);
    expect(await dead()).toBe(0);
    await store.close();
  });

  it('SUB-11 takes none that came after it began: as many as it retries may come meanwhile, without end', async () => {
    const { store, resources, die, dead } = await setUp(({ die }) => die(1, systemClock.now() + 1000));
    await die(1001);
    expect(await resources.deadLetters.retryAll({ application: 'a' })).toBe(1001);
    expect(await dead()).toBe(1003);
    await store.close();
  });
});

describe('an archive', () => {
  it('SUB-13 brings back bytes that are no text as they were', async () => {
    const { store, resources, die, dead } = await setUp(() => {});
    await die(1, systemClock.now(), Uint8Array.of(0xff, 0x00, 0x01));
    const { value: line } = await resources.deadLetters.archive({ all: true }).next();
    const { id, messageId, applicationId } = JSON.parse(line).delivery;
    await resources.deadLetters.purge([id]);
    expect(await dead()).toBe(0);
    expect(await resources.deadLetters.restore([line])).toMatchObject({ restored: 1 });
    const message = await store.getMessage({ applicationId, id: messageId });
    expect([...(message?.payload ?? [])]).toEqual([0xff, 0x00, 0x01]);
    await store.close();
  });
});
