import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../clock.ts';
import { createTestSchema, type TestSchema } from '../../testing/postgres-schema.ts';
import { openPostgresStore, type PostgresStore } from './index.ts';

const LEASE_MS = 10_000;
let schema: TestSchema;
const stores: PostgresStore[] = [];

/** A node on a machine whose clock is wrong by so much. */
async function openOn(aheadMs: number) {
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const store = await openPostgresStore({ url: schema.url, poolSize: 2, clock });
  stores.push(store);
  return { store, now: clock.now };
}

beforeAll(async () => {
  schema = await createTestSchema();
});

afterAll(async () => {
  for (const store of stores) await store.close();
  await schema.drop();
});

it.each([60_000, -60_000])(
  'BUD-07 a node whose clock is wrong by %d ms neither takes from the living nor seems dead',
  async (aheadMs) => {
    const right = await openOn(0);
    const wrong = await openOn(aheadMs);
    const first = await right.store.join({ now: right.now(), leaseMs: LEASE_MS, name: 'right' });
    const second = await wrong.store.join({ now: wrong.now(), leaseMs: LEASE_MS, name: 'wrong' });
    await right.store.takeOver({ epoch: first.epoch, now: right.now(), limit: 10 });
    await wrong.store.takeOver({ epoch: second.epoch, now: wrong.now(), limit: 10 });
    const beat = { leaseMs: LEASE_MS };
    expect(await right.store.heartbeat({ ...beat, epoch: first.epoch, now: right.now() })).not.toBe('fenced');
    expect(await wrong.store.heartbeat({ ...beat, epoch: second.epoch, now: wrong.now() })).not.toBe('fenced');
  },
);
