/** posthorn migrate between a real file and a real server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPosthorn } from '../../posthorn.ts';
import { createSecretBox } from '../../signing/index.ts';
import { openPostgresStore } from '../../store/postgres/index.ts';
import { openDb } from '../../store/sqlite/driver.ts';
import { openSqliteStore } from '../../store/sqlite/index.ts';
import { TEST_SECRET } from '../../testing/engine-rig.ts';
import { type Filled, fillStore, showStore } from '../../testing/full-store.ts';
import { createTestSchema, type TestSchema } from '../../testing/postgres-schema.ts';
import { type ScriptedReceiver, startReceiver } from '../../testing/scripted-receiver.ts';
import { runInMemory } from '../testing/run-in-memory.ts';

const KEY = 'the key of the old server';
const ENV = { POSTHORN_SECRET_KEY: KEY };

let folder: string;
let path: string;
let schema: TestSchema;
let receiver: ScriptedReceiver;
let filled: Filled;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-migrate-'));
  path = join(folder, 'posthorn.db');
  schema = await createTestSchema();
  receiver = await startReceiver();
  filled = await withFile((store) =>
    fillStore(store, { url: receiver.url, secret: createSecretBox(KEY).seal(TEST_SECRET) }),
  );
});

afterEach(async () => {
  await receiver.close();
  await schema.drop();
  await rm(folder, { recursive: true, force: true });
});

async function withFile<T>(work: (store: Awaited<ReturnType<typeof openSqliteStore>>) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({ path, thread: false });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function showTarget() {
  const store = await openPostgresStore({ url: schema.url });
  try {
    return await showStore(store, filled);
  } finally {
    await store.close();
  }
}

const migrate = (...more: string[]) =>
  runInMemory(['migrate', '--from', `sqlite:${path}`, '--to', schema.url, ...more], ENV);

describe('posthorn migrate', () => {
  it('moves everything: lists are equal, but for what was leased', async () => {
    const before = await withFile((store) => showStore(store, filled));
    const states = new Set(before.deliveries.map(({ state }) => state));
    expect(states).toEqual(new Set(['pending', 'leased', 'held', 'dead', 'delivered', 'cancelled']));
    expect(before.attempts.length).toBeGreaterThan(0);
    const { exitCode, out, err } = await migrate('--batch', '3');
    expect(err).toBe('');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/deliveries +\d+ rows +[0-9a-f]{64}/);
    expect(out).not.toContain('NUL');
    const after = await showTarget();
    expect(after.records).toEqual(before.records);
    expect(JSON.stringify(after.records)).toContain('a\\u0000b');
    expect(after.messages).toEqual(before.messages);
    expect(after.remembered).toEqual(before.remembered);
    expect(after.attempts).toEqual(before.attempts);
    const becomes = {
      [filled.leased.active]: 'pending',
      [filled.leased.paused]: 'held',
      [filled.leased.removed]: 'cancelled',
    };
    const expected = before.deliveries.map((delivery) => {
      const state = becomes[delivery.id];
      if (state === undefined) return delivery;
      const { dueAt: _, ...rest } = delivery;
      return { ...rest, state, ...(state !== 'cancelled' && { dueAt: expect.any(Number) }) };
    });
    expect(after.deliveries).toEqual(expected);
    expect(after.groups.map(({ example: _, ...group }) => group)).toEqual(
      before.groups.map(({ example: _, ...group }) => group),
    );
  });

  it('leaves work that goes on: an engine sends what waits and what was leased, and a dead letter again', async () => {
    expect(await migrate()).toMatchObject({ exitCode: 0 });
    const posthorn = await createPosthorn({
      store: schema.url,
      secretKey: KEY,
      allowNetworks: ['127.0.0.0/8'],
      logger: false,
    });
    const settled = (id: string) =>
      expect
        .poll(async () => (await posthorn.deliveries.get(id)).delivery.state, { timeout: 20_000 })
        .toBe('delivered');
    for (const id of [...filled.due, filled.leased.active]) await settled(id);
    const bodies = receiver.arrivals.map(({ body }) => body.toString('hex'));
    expect(bodies).toContain(Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('hex'));
    await posthorn.deadLetters.retry(filled.dead);
    await settled(filled.dead);
    await posthorn.close();
    // No epoch of the old store comes again, and the deleted endpoint's sweep was not forgotten.
    const [node] = await schema.query<{ epoch: string }>('SELECT max(epoch) AS epoch FROM nodes');
    expect(Number(node?.epoch)).toBeGreaterThan(1);
    const left = await schema.query('SELECT 1 FROM lanes WHERE sweep IS NOT NULL');
    expect(left).toEqual([]);
  });

  it('puts messages of past weeks into partitions of their own, so that retention can drop them', async () => {
    expect(await migrate()).toMatchObject({ exitCode: 0 });
    const [row] = await schema.query<{ count: string }>('SELECT count(*) FROM messages_default');
    expect(row?.count).toBe('0');
  });

  it('a NUL in a text, which PostgreSQL cannot store, becomes U+FFFD, and is told', async () => {
    const db = await openDb(path);
    db.run("UPDATE attempts SET response = CAST(x'610062' AS TEXT) WHERE id = (SELECT min(id) FROM attempts)");
    db.close();
    expect(await migrate()).toMatchObject({ exitCode: 0, out: expect.stringContaining('1 texts had NUL characters') });
    expect((await showTarget()).attempts[0]?.response).toBe('a\uFFFDb');
  });

  it('a second run finds that there is nothing to do', async () => {
    await migrate();
    const again = await migrate();
    expect(again).toMatchObject({ exitCode: 0, out: expect.stringContaining('nothing to do') });
  });

  it('--dry-run counts and checks, and changes nothing', async () => {
    const { exitCode, out } = await migrate('--dry-run');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/applications +2\n/);
    expect(out).toContain('will be made');
    expect(await schema.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema.name])).toEqual([]);
    await (await openPostgresStore({ url: schema.url })).close();
    expect((await migrate('--dry-run')).out).toContain('empty, and nobody uses it');
    await migrate();
    expect((await migrate('--dry-run')).out).toContain('has everything from this file');
  });
});

describe('ALL-06 posthorn migrate refuses', () => {
  it.each<[string, string[], RegExp]>([
    [
      'the other direction',
      ['--from', 'postgres://a@127.0.0.1/b', '--to', 'sqlite:./x.db'],
      /sqlite: to postgres: only/,
    ],
    ['a file that is not there', ['--from', 'sqlite:/nowhere/x.db', '--to', 'postgres://a@127.0.0.1/b'], /no file/],
    ['a URL that it cannot read', ['--from', 'x.db', '--to', 'postgres://a@127.0.0.1/b'], /--from must begin with/],
    ['a batch of nothing', ['--from', 'sqlite:x', '--to', 'postgres://a@h/b', '--batch', '0'], /from 1 to 20000/],
  ])('%s', async (_, args, told) => {
    const { exitCode, err } = await runInMemory(['migrate', ...args]);
    expect(err).toMatch(told);
    expect(exitCode).toBe(2);
  });

  it('a file that a server has open', async () => {
    await withFile(async () => {
      const { exitCode, err } = await migrate();
      expect(err).toContain('in use by another Posthorn');
      expect(exitCode).toBe(1);
    });
  });

  it('another POSTHORN_SECRET_KEY than the one the secrets were sealed with', async () => {
    const args = ['migrate', '--from', `sqlite:${path}`, '--to', schema.url];
    expect((await runInMemory(args)).err).toContain('POSTHORN_SECRET_KEY is not set');
    const other = await runInMemory(args, { POSTHORN_SECRET_KEY: 'another key than that' });
    expect(other).toMatchObject({ exitCode: 2, err: expect.stringContaining('does not open') });
  });

  it('a target on which a node is alive, and one that has rows', async () => {
    const store = await openPostgresStore({ url: schema.url });
    const { epoch } = await store.join({ now: Date.now(), leaseMs: 60_000, name: 'somebody’s node' });
    const live = await migrate();
    expect(live).toMatchObject({ exitCode: 1, err: expect.stringContaining('in use by somebody’s node') });
    await store.leave({ epoch });
    const application = { id: 'app_1', name: 'A', metadata: {}, createdAt: 1, updatedAt: 1 };
    await store.insert({ kind: 'application', record: application });
    await store.close();
    const full = await migrate();
    expect(full).toMatchObject({ exitCode: 1, err: expect.stringContaining('not empty (applications)') });
    expect(full.err).not.toContain('posthorn migrate');
  });

  it('to let a node join, or another file be moved to, a target that is not whole yet', async () => {
    const early = await openPostgresStore({ url: schema.url });
    await schema.query("INSERT INTO transfers VALUES ('of another file', 1)");
    await expect(early.join({ now: 1, leaseMs: 1, name: 'early' })).rejects.toMatchObject({ code: 'store_locked' });
    await early.close();
    await expect(openPostgresStore({ url: schema.url })).rejects.toThrow('posthorn migrate');
    const { exitCode, err } = await migrate();
    expect(err).toContain('part of a migration from another file');
    expect(exitCode).toBe(1);
  });

  it('to call a target whole when a row in it is not what was sent', async () => {
    await (await openPostgresStore({ url: schema.url })).close();
    await schema.query(`CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.payload = NEW.payload || '\\x00'; RETURN NEW; END $$`);
    await schema.query('CREATE TRIGGER spoil BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION spoil()');
    const { exitCode, err } = await migrate();
    expect(err).toContain('messages: what arrived is not what was sent');
    expect(exitCode).toBe(1);
    await expect(openPostgresStore({ url: schema.url })).rejects.toMatchObject({ code: 'store_locked' });
  });
});
