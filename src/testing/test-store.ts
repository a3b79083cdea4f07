/**
 * What the rigs run on: POSTHORN_TEST_STORE names it, SQLite in memory without it. What the engine and the API promise must
 * not depend on where things are kept or how they are dispatched, so the same tests run on each (test/store-matrix.ts).
 */
import { type Clock, systemClock } from '../clock.ts';
import { parseRedisUrl } from '../config/index.ts';
import { createBullmqDispatch } from '../dispatch/bullmq/index.ts';
import { byStore, type Dispatch } from '../dispatch/index.ts';
import { createIds } from '../ids.ts';
import type { Store } from '../store/index.ts';
import { openPostgresStore } from '../store/postgres/index.ts';
import { openSqliteStore } from '../store/sqlite/index.ts';
import { borrowTestSchema } from './postgres-schema.ts';

const TEST_STORES = ['sqlite', 'postgres', 'postgres+bullmq'] as const;

export function testStore(): (typeof TEST_STORES)[number] {
  const name = process.env.POSTHORN_TEST_STORE ?? 'sqlite';
  const found = TEST_STORES.find((each) => each === name);
  if (found === undefined) throw new Error(`POSTHORN_TEST_STORE=${name} must be one of ${TEST_STORES.join(', ')}`);
  return found;
}

/** Empty, and gone with its `close`. */
export function openTestStore(): Promise<Store> {
  return testStore() === 'sqlite' ? openMemoryStore() : openPostgresTestStore();
}

export function openMemoryStore(): Promise<Store> {
  return openSqliteStore({ path: ':memory:', thread: false });
}

export async function openPostgresTestStore(): Promise<Store> {
  const schema = await borrowTestSchema();
  const store = await openPostgresStore({ url: schema.url, poolSize: 4 });
  const close = async () => {
    await store.close();
    await schema.giveBack();
  };
  return { ...store, close };
}

const uniqueNames = createIds(() => systemClock.now());

/** A queue keeps real time: tests that move a clock by hand are dispatched by the store, on every store. */
export function openTestDispatch(clock: Clock): Dispatch {
  if (testStore() !== 'postgres+bullmq' || 'advance' in clock) return byStore;
  const parsed = parseRedisUrl(process.env.POSTHORN_TEST_REDIS_URL ?? '');
  if ('refused' in parsed) throw new Error(`POSTHORN_TEST_REDIS_URL ${parsed.refused}`);
  const prefix = `{${uniqueNames.next('node')}}`;
  return createBullmqDispatch({ location: parsed.value, prefix, clock, maxInFlight: 1024 });
}
