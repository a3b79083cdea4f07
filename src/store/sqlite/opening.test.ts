/** Opening a file: its lock, and what is said when it cannot be opened. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeError } from '../../errors.ts';
import { openDb } from './driver.ts';
import { openSqliteStore } from './index.ts';

let folder = '';
let path = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-store-'));
  path = join(folder, 'posthorn.db');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('open', () => {
  it('a database that was opened before is opened again with what it had', async () => {
    const first = await openSqliteStore({ path, thread: false });
    const { epoch } = await first.join({ now: 1, leaseMs: 1, name: 'first' });
    await first.close();
    const second = await openSqliteStore({ path, thread: false });
    expect((await second.join({ now: 2, leaseMs: 1, name: 'second' })).epoch).toBe(epoch + 1);
    await second.close();
  });
});

describe('a new file', () => {
  it('and what SQLite puts beside it can be read by its owner only', async () => {
    const store = await openSqliteStore({ path, thread: false });
    await store.join({ now: 1, leaseMs: 1, name: 'first' });
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect((await stat(file)).mode & 0o777).toBe(0o600);
    await store.close();
  });
});

describe('lock', () => {
  it('ALL-06 a second opener in this process is told that it has the file itself, under whatever name', async () => {
    const store = await openSqliteStore({ path, thread: false });
    await store.join({ now: Date.UTC(2026, 0, 1), leaseMs: 1000, name: 'host-7 pid 42' });
    const link = join(folder, 'link');
    await symlink(path, link);
    for (const each of [path, link]) {
      const second = openSqliteStore({ path: each, thread: false });
      await expect(second).rejects.toMatchObject({ code: 'store_locked' });
      await expect(second).rejects.toThrow(
        `${each} is already open in this very process. Use the Posthorn that has it`,
      );
    }
    // The refused opener must not have taken anything away from the one that has it.
    expect(await store.heartbeat({ epoch: 1, now: Date.UTC(2026, 0, 1), leaseMs: 1000 })).toBe('alone');
    await expect(openSqliteStore({ path, thread: false })).rejects.toMatchObject({ code: 'store_locked' });
    await store.close();
  });

  it.each(['a link to the file', 'a link to its folder'])('%s leads to the same lock', async (kind) => {
    const link = join(folder, 'link');
    await symlink(kind === 'a link to the file' ? path : folder, link);
    const other = kind === 'a link to the file' ? link : join(link, 'posthorn.db');
    const store = await openSqliteStore({ path, thread: false });
    await expect(openSqliteStore({ path: other, thread: false })).rejects.toMatchObject({ code: 'store_locked' });
    await store.close();
    const linked = await openSqliteStore({ path: other, thread: false });
    await expect(openSqliteStore({ path, thread: false })).rejects.toMatchObject({ code: 'store_locked' });
    await linked.close();
  });

  it('a closed store gives the file free', async () => {
    for (let i = 0; i < 3; i++) await (await openSqliteStore({ path, thread: false })).close();
  });

  it('a failed opening gives the file free', async () => {
    const db = await openDb(path);
    db.exec('PRAGMA user_version = 9999');
    db.close();
    await expect(openSqliteStore({ path, thread: false })).rejects.toMatchObject({ code: 'store_too_new' });
    const again = await openDb(path);
    again.exec('PRAGMA user_version = 0');
    again.close();
    await (await openSqliteStore({ path, thread: false })).close();
  });

  it('ALL-06 of two that open a file in one moment, one is told that this process has it', async () => {
    const results = await Promise.allSettled([1, 2].map(() => openSqliteStore({ path, thread: false })));
    const refusals = results.flatMap((each) => (each.status === 'rejected' ? [describeError(each.reason)] : []));
    expect(refusals).toEqual([expect.stringContaining('this very process')]);
    for (const each of results) if (each.status === 'fulfilled') await each.value.close();
  });

  it('ALL-01 another process is refused while one has the file, and gets it at once when that is killed', async () => {
    const earlier = await openSqliteStore({ path, thread: false });
    await earlier.join({ now: Date.UTC(2026, 0, 1), leaseMs: 1000, name: 'host-7 pid 42' });
    await earlier.close();
    const holder = await holdLock(`${path}.lock`);
    try {
      const refused = openSqliteStore({ path, thread: false });
      await expect(refused).rejects.toMatchObject({ code: 'store_locked' });
      const message = await refused.catch((error: Error) => error.message);
      for (const part of [path, 'host-7 pid 42', '2026-01-01', 'Stop that process', 'POSTHORN_STORE']) {
        expect(message).toContain(part);
      }
    } finally {
      holder.kill('SIGKILL');
      await once(holder, 'exit');
    }
    await (await openSqliteStore({ path, thread: false })).close();
  });
});

describe('a file that cannot be used', () => {
  it('ALL-06 a newer schema is refused, with the numbers and what to do', async () => {
    await (await openSqliteStore({ path, thread: false })).close();
    const db = await openDb(path);
    db.exec('PRAGMA user_version = 9999');
    db.close();
    const opening = openSqliteStore({ path, thread: false });
    await expect(opening).rejects.toMatchObject({ code: 'store_too_new' });
    await expect(opening).rejects.toThrow(/schema 9999.*Upgrade/);
  });

  it.each<[string, () => string]>([
    ['a folder that does not exist', () => join(folder, 'none', 'posthorn.db')],
    ['a folder', () => folder],
  ])('ALL-06 %s: says which path and what it must be', async (_, bad) => {
    const opening = openSqliteStore({ path: bad(), thread: false });
    await expect(opening).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(opening).rejects.toThrow(bad());
    await expect(opening).rejects.toThrow('POSTHORN_STORE');
  });

  it('ALL-06 something that is no database: says so and leaves it as it is', async () => {
    await writeFile(path, 'these are my notes, '.repeat(100));
    const opening = openSqliteStore({ path, thread: false });
    await expect(opening).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(opening).rejects.toThrow(/not a database/);
  });
});

describe('close', () => {
  it('answers what was asked for before it, refuses what comes after, and may be called twice', async () => {
    const store = await openSqliteStore({ path, thread: false });
    const joining = store.join({ now: 1, leaseMs: 1, name: 'late' });
    await store.close();
    expect((await joining).epoch).toBe(1);
    await expect(store.counts({ most: 10_000 })).rejects.toMatchObject({ code: 'closed' });
    await store.close();
  });
});

/** Another process that holds the lock the way a running Posthorn does, until it is killed. */
async function holdLock(lockPath: string): Promise<ChildProcess> {
  const script = `
    const load = () => import('node:sqlite').catch(() => import('@photostructure/sqlite'));
    load().then(({ DatabaseSync }) => {
      const lock = new DatabaseSync(process.argv[1]);
      lock.exec('PRAGMA journal_mode = MEMORY');
      lock.exec('BEGIN EXCLUSIVE');
      console.log('held');
      // Named in what never ends: a database that nobody names any more is closed, and its lock is gone.
      setInterval(() => lock, 1000);
    });`;
  const child = spawn(process.execPath, ['-e', script, lockPath], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}
