import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exerciseStore, ILLEGAL_TRANSITION } from '../conformance/index.ts';
import { openDb } from './driver.ts';
import { openSqliteStore } from './index.ts';

exerciseStore('SQLite in memory, in line', {
  histories: 150,
  async open() {
    const store = await openSqliteStore({ path: ':memory:', thread: false });
    return { store, close: () => store.close() };
  },
});

async function forbidIllegalTransitions(path: string): Promise<void> {
  const db = await openDb(path);
  db.exec(`
    CREATE TRIGGER legal_transitions BEFORE UPDATE OF state ON deliveries
    WHEN ${ILLEGAL_TRANSITION}
    BEGIN SELECT RAISE(ABORT, 'illegal transition'); END`);
  db.close();
}

exerciseStore('a SQLite file that refuses illegal transitions, in line', {
  histories: 40,
  capabilities: { durable: true, soleProcess: true },
  async open() {
    const folder = await mkdtemp(join(tmpdir(), 'posthorn-store-'));
    const path = join(folder, 'posthorn.db');
    const open = () => openSqliteStore({ path, thread: false });
    await (await open()).close();
    await forbidIllegalTransitions(path);
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
