/**
 * The store as it ships: compiled, on a thread of its own. Node 20 loads no TypeScript in a thread, so this is the one
 * place where the compiled files are tested; `npm test` builds them first.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exerciseStore } from '../../src/store/conformance/index.ts';
import type { Store } from '../../src/store/index.ts';
import { openDb } from '../../src/store/sqlite/driver.ts';

const BUILT = new URL('../../dist/store/sqlite/index.js', import.meta.url);
if (!existsSync(BUILT)) throw new Error('dist/ is not built: run `npm run build` first, or `npm test`, which does.');

const { openSqliteStore } = (await import(BUILT.href)) as {
  openSqliteStore: (options: { path: string; thread?: boolean }) => Promise<Store>;
};

exerciseStore('a SQLite file, in a thread', {
  histories: 5,
  capabilities: { durable: true, soleProcess: true },
  async open() {
    const folder = await mkdtemp(join(tmpdir(), 'posthorn-thread-'));
    const path = join(folder, 'posthorn.db');
    const open = () => openSqliteStore({ path });
    const store = await open();
    let current = store;
    return {
      store,
      async reopen() {
        await current.close();
        current = await open();
        return current;
      },
      async lanes() {
        const db = await openDb(path);
        const rows = db.all<{ id: string }>('SELECT destination_id AS id FROM lanes ORDER BY destination_id');
        db.close();
        return rows.map(({ id }) => id);
      },
      async close() {
        await current.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
});

describe('the store thread', () => {
  let folder = '';
  let path = '';

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'posthorn-thread-'));
    path = join(folder, 'posthorn.db');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('answers what was asked for before it was closed, refuses what comes after, and may be closed twice', async () => {
    const store = await openSqliteStore({ path });
    const joining = [1, 2, 3].map(() => store.join({ now: 1, leaseMs: 1, name: 'late' }));
    await store.close();
    expect((await Promise.all(joining)).map(({ epoch }) => epoch)).toEqual([1, 2, 3]);
    await expect(store.counts({ most: 10_000 })).rejects.toMatchObject({ code: 'closed' });
    await store.close();
  });

  it('tells its caller in the same words why it cannot open', async () => {
    await expect(openSqliteStore({ path: join(folder, 'none', 'x.db') })).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('POSTHORN_STORE'),
    });
    const store = await openSqliteStore({ path });
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringContaining('this very process'),
    });
    await store.close();
  });

  it('a request that throws spoils only itself, and its error comes back', async () => {
    const store = await openSqliteStore({ path });
    const bad = store.accept({ epoch: 1, now: 1, items: 'no list' as never });
    const good = store.join({ now: 1, leaseMs: 1, name: 'good' });
    await expect(bad).rejects.toThrow();
    expect((await good).epoch).toBe(1);
    await store.close();
  });

  it('ALL-01 BUD-07 after a kill -9 the file opens at once, with all that was answered, and its leases are free', async () => {
    const child = await holder(path);
    try {
      const opening = openSqliteStore({ path });
      await expect(opening).rejects.toMatchObject({ code: 'store_locked' });
      await expect(opening).rejects.toThrow(/child 7.*Stop that process/);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const store = await openSqliteStore({ path });
    expect(await store.heartbeat({ epoch: 1, now: 1, leaseMs: 1 })).toBe('fenced');
    expect((await store.join({ now: 1, leaseMs: 1, name: 'heir' })).epoch).toBe(2);
    await store.close();
  });

  it('an idle store does not hold its process up once it is closed', async () => {
    const child = run(`const store = await openSqliteStore({ path }); await store.close();`, path);
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

/** Another process with the store open, until it is killed. */
async function holder(path: string): Promise<ChildProcess> {
  const child = run(
    `const store = await openSqliteStore({ path });
     await store.join({ now: Date.now(), leaseMs: 1e6, name: 'child 7' });
     console.log('open');
     setInterval(() => {}, 1000);`,
    path,
  );
  if (child.stdout) await once(child.stdout, 'data');
  return child;
}

function run(body: string, path: string): ChildProcess {
  const script = `import(${JSON.stringify(BUILT.href)}).then(async ({ openSqliteStore }) => {
    const path = process.argv[1];
    ${body}
  });`;
  return spawn(process.execPath, ['-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
}
