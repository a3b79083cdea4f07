/** Opening: who migrates, what is refused, and that no message of it shows a password. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestSchema, type TestSchema } from '../../testing/postgres-schema.ts';
import { openPostgresStore } from './index.ts';

let schema: TestSchema;
beforeEach(async () => {
  schema = await createTestSchema();
});
afterEach(() => schema.drop());

describe('open', () => {
  it('ALL-02 eight nodes that start at once on an empty database make the schema once', async () => {
    const stores = await Promise.all(
      Array.from({ length: 8 }, () => openPostgresStore({ url: schema.url, poolSize: 2 })),
    );
    const epochs = await Promise.all(stores.map((store) => store.join({ now: 1, leaseMs: 1, name: 'node' })));
    expect(new Set(epochs.map(({ epoch }) => epoch)).size).toBe(8);
    await Promise.all(stores.map((store) => store.close()));
    const versions = await schema.query<{ version: number }>('SELECT version FROM migrations ORDER BY version');
    expect(versions.map(({ version }) => version)).toEqual(versions.map((_, index) => index + 1));
  });

  it('ALL-06 a newer schema is refused, with the numbers and what to do', async () => {
    await (await openPostgresStore({ url: schema.url })).close();
    await schema.query("INSERT INTO migrations (version, file) VALUES (9999, 'from the future')");
    const opening = openPostgresStore({ url: schema.url });
    await expect(opening).rejects.toMatchObject({ code: 'store_too_new' });
    await expect(opening).rejects.toThrow(/schema 9999.*Upgrade/);
  });

  it('ALL-01 a server that answers before a commit is on disk is refused', async () => {
    const url = new URL(schema.url);
    url.searchParams.set('options', '-c synchronous_commit=off');
    await expect(openPostgresStore({ url: url.href })).rejects.toMatchObject({ code: 'config_invalid' });
    await expect(openPostgresStore({ url: url.href })).rejects.toThrow(/synchronous_commit.*Set it to on/);
  });

  it.each<[string, (url: URL) => void, RegExp]>([
    ['a server that is not there', (url) => Object.assign(url, { port: '1' }), /ECONNREFUSED.*POSTHORN_STORE/s],
    ['a database that is not there', (url) => Object.assign(url, { pathname: '/none' }), /none.*Create that database/s],
  ])('ALL-06 %s: says where and what to do, without the password', async (_, change, expected) => {
    const url = new URL(schema.url);
    url.password = 'hunter2';
    change(url);
    const error = await openPostgresStore({ url: url.href, connectTimeoutMs: 5000 }).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 'store_unavailable', message: expect.stringMatching(expected) });
    expect(String(error)).not.toContain('hunter2');
  });

  it('ALL-06 a role that may create no schemas opens the one that was made for it, and no other', async () => {
    const role = `${schema.name}_role`;
    await schema.query(`CREATE ROLE ${role} LOGIN PASSWORD 'limited'`);
    await schema.query(`CREATE SCHEMA ${schema.name} AUTHORIZATION ${role}`);
    try {
      const url = new URL(schema.url);
      Object.assign(url, { username: role, password: 'limited' });
      const store = await openPostgresStore({ url: url.href, poolSize: 1 });
      expect((await store.join({ now: 1, leaseMs: 1, name: 'node' })).epoch).toBe(1);
      await store.close();
      const refused = openPostgresStore({ url: url.href, schema: `${schema.name}_none`, poolSize: 1 });
      await expect(refused).rejects.toThrow(/permission denied.*AUTHORIZATION/s);
    } finally {
      await schema.query(`DROP OWNED BY ${role} CASCADE`);
      await schema.query(`DROP ROLE ${role}`);
    }
  });

  it('a schema name that would need quoting is refused', async () => {
    const opening = openPostgresStore({ url: schema.url, schema: 'a"b' });
    await expect(opening).rejects.toMatchObject({ code: 'config_invalid' });
  });
});

describe('a transaction that lies still', () => {
  // fanOut runs inside relay's transaction: while it waits, the connection is as idle as that of a stopped process.
  async function relayWhileIdle(leaseMs: number): Promise<unknown> {
    const store = await openPostgresStore({ url: schema.url, leaseMs });
    try {
      const { epoch } = await store.join({ now: 1, leaseMs, name: 'node' });
      await schema.query(`INSERT INTO outbox (id, application_id, event_type, payload, created_at)
        VALUES ('msg_1', 'app_1', 'invoice.paid', '{}', 1)`);
      const fanOut = async () => {
        await sleep(1000);
        return [undefined];
      };
      return await store.relay({ epoch, now: 1, limit: 1, fanOut });
    } finally {
      await store.close();
    }
  }

  it('BUD-07 is ended by the server after as long as the lease, so that a stopped process keeps no locks', async () => {
    await expect(relayWhileIdle(250)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('is left alone for as long as the lease runs', async () => {
    expect(await relayWhileIdle(20_000)).toEqual({ fenced: false, results: ['missing'] });
  });

  it('of a handler has ten seconds more than the handler, however short the lease', async () => {
    const store = await openPostgresStore({ url: schema.url, leaseMs: 250 });
    let allowed: unknown;
    await store.transact?.({ epoch: 1, now: () => 1, timeoutMs: 30_000 }, async (client) => {
      allowed = (await client.query("SELECT current_setting('idle_in_transaction_session_timeout') AS idle")).rows[0];
      return undefined;
    });
    await store.close();
    expect(allowed).toEqual({ idle: '40s' });
  });
});

describe('close', () => {
  it('answers what was asked for before it, refuses what comes after, and may be called twice', async () => {
    const store = await openPostgresStore({ url: schema.url });
    const joining = store.join({ now: 1, leaseMs: 1, name: 'late' });
    await store.close();
    expect((await joining).epoch).toBeGreaterThan(0);
    await expect(store.counts({ most: 10_000 })).rejects.toMatchObject({ code: 'closed' });
    await store.close();
  });
});
