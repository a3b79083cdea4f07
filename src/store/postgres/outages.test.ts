/** What the server and the network can do to us, and that nothing accepted is lost by it nor anything written twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CuttingProxy, startCuttingProxy } from '../../testing/cutting-proxy.ts';
import { type Server, startPostgres } from '../../testing/servers.ts';
import { DELIVERED, LEASE_MS, remembered, retryIn, Scene, T0 } from '../conformance/scene.ts';
import type { Store } from '../store.ts';
import { openPostgresStore, type PostgresOptions } from './index.ts';

let server: Server;
let admin: pg.Pool;
let proxy: CuttingProxy;
let proxied = '';
let store: Store;
let scene: Scene;
let round = 0;

beforeAll(async () => {
  server = await startPostgres({ fsync: false });
  admin = new pg.Pool({ connectionString: server.url, max: 2 });
  admin.on('error', () => {});
  proxy = await startCuttingProxy({ host: '127.0.0.1', port: server.port });
  const url = new URL(server.url);
  url.port = String(proxy.port);
  proxied = url.href;
}, 60_000);

afterAll(async () => {
  await proxy.close();
  await admin.end();
  await server.stop();
});

async function begin(options: Partial<PostgresOptions> = {}): Promise<void> {
  round += 1;
  store = await openPostgresStore({ url: proxied, schema: `outage_${round}`, poolSize: 4, ...options });
  scene = await Scene.begin({ store, close: () => store.close() });
}

beforeEach(() => begin());
afterEach(() => store.close());

/** Repeats what a caller with an idempotency key or event id repeats. */
async function persist<T>(work: () => Promise<T>): Promise<T> {
  return vi.waitFor(work, { timeout: 20_000, interval: 20 });
}

const KILL_ONE_AT_WORK = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name = 'posthorn' AND state <> 'idle' AND query NOT LIKE 'LISTEN%' LIMIT 1`;
const KILL_ALL_OTHERS = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'posthorn' AND pid <> pg_backend_pid()`;
const unavailable = { code: 'store_unavailable' };
const inDoubt = { ...unavailable, nothingStored: false };
const refused = { ...unavailable, nothingStored: true };

/** What a node does that is in doubt: it joins again, and what its former epoch had comes to whoever takes over. */
async function takenOver(): Promise<string[]> {
  const epoch = await scene.join(T0 + LEASE_MS);
  return (await scene.takeOver(epoch, T0 + LEASE_MS)).map(({ id }) => id);
}

describe('a connection that is cut after COMMIT was sent', () => {
  it('PAY-06 accept: the error comes up, the repeat is a duplicate of the one message, and what was leased is not stranded', async () => {
    const to = [await scene.endpoint()];
    const first = await scene.item({ to, state: 'leased', remember: remembered() });
    proxy.cutAfter('COMMIT\0');
    await expect(store.accept({ epoch: scene.epoch, now: T0, items: [first] })).rejects.toMatchObject(inDoubt);
    const again = await scene.item({ to, state: 'leased', remember: remembered() });
    const { results } = await store.accept({ epoch: scene.epoch, now: T0, items: [again] });
    expect(results).toEqual([{ kind: 'duplicate', by: 'key', remembered: remembered() }]);
    expect(await scene.deliveries()).toHaveLength(1);
    expect(await takenOver()).toEqual(first.deliveries.map(({ id }) => id));
  });

  it('BUD-07 claim: the error says that it is in doubt, and what was leased without an answer is taken over', async () => {
    const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
    proxy.cutAfter('COMMIT\0');
    await expect(scene.claim()).rejects.toMatchObject(inDoubt);
    expect(await scene.state(id)).toBe('leased');
    expect(await takenOver()).toEqual([id]);
  });

  it('record: the repeat says recorded, and neither the attempt nor the failure is counted twice', async () => {
    const to = await scene.endpoint();
    const [id = ''] = await scene.publish({ to: [to] });
    const item = scene.recordItem(await scene.claimOne(id), retryIn(1000));
    const record = () => store.record({ epoch: scene.epoch, now: T0, items: [item] });
    proxy.cutAfter('COMMIT\0');
    await expect(record()).rejects.toMatchObject(unavailable);
    expect((await record()).results).toEqual(['recorded']);
    expect(await scene.attempts(id)).toHaveLength(1);
    expect((await scene.health(to))?.failureCount).toBe(1);
    expect((await scene.delivery(id)).attempts).toBe(1);
  });
});

describe('a server that goes away', () => {
  it('ALL-01 right behind the greeting of new connections: what needs them fails, nothing else does, and the store goes on', async () => {
    await admin.query(KILL_ALL_OTHERS);
    proxy.endLogins(true);
    const asked = Array.from({ length: 20 }, () => store.list({ kind: 'source', limit: 1, order: 'ascending' }));
    const ends = await Promise.allSettled(asked);
    proxy.endLogins(false);
    expect(proxy.cuts).toBeGreaterThan(0);
    expect(ends.map(({ status }) => status)).toContain('rejected');
    await expect(persist(() => scene.publish({ to: [] }))).resolves.toHaveLength(0);
  });

  it('ALL-01 killed and restarted under load: each message that was asked for is there once, and the store goes on', async () => {
    const to = [await scene.endpoint()];
    const publish = async (n: number) => {
      const item = await persist(() => scene.item({ to, message: { eventId: `evt-${n}` } }));
      return persist(async () => {
        const { results } = await store.accept({ epoch: scene.epoch, now: T0, items: [item] });
        return results[0];
      });
    };
    const publishing = Promise.all(Array.from({ length: 40 }, (_, n) => publish(n)));
    await server.kill();
    await server.restart();
    const results = await publishing;
    expect(results.every((result) => result?.kind === 'accepted' || result?.kind === 'duplicate')).toBe(true);
    expect(await persist(() => scene.deliveries())).toHaveLength(40);
  }, 60_000);

  it('pg_terminate_backend in the middle of commits loses nothing and doubles nothing', async () => {
    const to = [await scene.endpoint()];
    const killing = (async () => {
      for (let n = 0; n < 40; n++) {
        await admin.query(KILL_ONE_AT_WORK);
        await sleep(10);
      }
    })();
    for (let n = 0; n < 60; n++) {
      const item = await persist(() => scene.item({ to, remember: remembered({ key: `key-${n}` }) }));
      await persist(() => store.accept({ epoch: scene.epoch, now: T0, items: [item] }));
    }
    await killing;
    expect(await persist(() => scene.deliveries())).toHaveLength(60);
  }, 60_000);

  it('a fail-over to a read-only server is told as such, and writes go on when it can write again', async () => {
    const to = [await scene.endpoint()];
    await scene.publish({ to });
    await admin.query('ALTER SYSTEM SET default_transaction_read_only = on');
    await admin.query('SELECT pg_reload_conf()');
    try {
      await vi.waitFor(async () => {
        const item = await scene.item({ to });
        await expect(store.accept({ epoch: scene.epoch, now: T0, items: [item] })).rejects.toThrow(/takes no writes/);
      });
      expect(await scene.deliveries()).not.toHaveLength(0);
    } finally {
      const client = new pg.Client({ connectionString: server.url, options: '-c default_transaction_read_only=off' });
      await client.connect();
      await client.query('ALTER SYSTEM RESET default_transaction_read_only');
      await client.query('SELECT pg_reload_conf()');
      await client.end();
    }
    const before = (await scene.deliveries()).length;
    const item = await scene.item({ to, remember: remembered() });
    await persist(() => store.accept({ epoch: scene.epoch, now: T0, items: [item] }));
    expect(await scene.deliveries()).toHaveLength(before + 1);
  });
});

describe('a fail-over after which old connections lead to a reader', () => {
  it('leaves connections that take no writes: the next ones find the primary', async () => {
    const item = await scene.item({ to: [await scene.endpoint()], remember: remembered() });
    await admin.query('ALTER ROLE CURRENT_USER SET default_transaction_read_only = on');
    try {
      await admin.query(KILL_ALL_OTHERS);
      await vi.waitFor(() =>
        expect(store.accept({ epoch: scene.epoch, now: T0, items: [item] })).rejects.toThrow(/takes no writes/),
      );
    } finally {
      await admin.query('ALTER ROLE CURRENT_USER RESET default_transaction_read_only');
    }
    const { results } = await store.accept({ epoch: scene.epoch, now: T0, items: [item] });
    expect(results).toEqual([{ kind: 'accepted' }]);
  });
});

describe('a server that is not there', () => {
  it('is told as such: nothing was stored, and no node needs to doubt what it has', async () => {
    const item = await scene.item({ to: [await scene.endpoint()], state: 'leased' });
    await server.kill();
    try {
      // Connections that were open when it went may still carry the first ones.
      await vi.waitFor(
        () => expect(store.accept({ epoch: scene.epoch, now: T0, items: [item] })).rejects.toMatchObject(refused),
        { timeout: 10_000 },
      );
    } finally {
      await server.restart();
    }
    expect(await persist(() => scene.deliveries())).toEqual([]);
  });
});

describe('a pool with nothing left', () => {
  it('says so after its time, with what to do, and serves again when a connection is free', async () => {
    await store.close();
    await begin({ poolSize: 1, connectTimeoutMs: 300 });
    const blocker = await admin.connect();
    try {
      await blocker.query(`BEGIN; LOCK TABLE outage_${round}.nodes`);
      const blocked = store.heartbeat({ epoch: scene.epoch, now: T0, leaseMs: LEASE_MS });
      const answer = store.counts({ most: 1 });
      await expect(answer).rejects.toThrow(/All 1 connections.*more connections/);
      await expect(answer).rejects.toMatchObject(refused);
      await blocker.query('ROLLBACK');
      expect(await blocked).toBe('alone');
    } finally {
      blocker.release();
    }
    expect(await store.counts({ most: 1 })).toMatchObject({ pending: 0 });
  });
});

describe('a receiver that answers with a NUL character', () => {
  it('is recorded, with the character replaced: PostgreSQL has none in its texts', async () => {
    const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
    const item = scene.recordItem(await scene.claimOne(id), DELIVERED);
    const attempt = { ...item.attempt, response: 'a\0b' };
    await store.record({ epoch: scene.epoch, now: T0, items: [{ ...item, attempt }] });
    expect((await scene.attempts(id))[0]?.response).toBe('a\uFFFDb');
  });
});
