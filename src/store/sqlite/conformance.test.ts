import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exerciseStore } from '../conformance/index.ts';
import { openSqliteStore } from './index.ts';

exerciseStore('SQLite in memory, in line', {
  histories: 150,
  async open() {
    const store = await openSqliteStore({ path: ':memory:', thread: false });
    return { store, close: () => store.close() };
  },
});

exerciseStore('a SQLite file, in line', {
  histories: 10,
  capabilities: { durable: true, soleProcess: true },
  async open() {
    const folder = await mkdtemp(join(tmpdir(), 'posthorn-store-'));
    const open = () => openSqliteStore({ path: join(folder, 'posthorn.db'), thread: false });
    const store = await open();
    let current = store;
    return {
      store,
      async reopen() {
        await current.close();
        current = await open();
        return current;
      },
      async close() {
        await current.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
});
