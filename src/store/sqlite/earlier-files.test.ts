/** Files that earlier versions wrote, and what a crash left in them. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDb } from './driver.ts';
import { openSqliteStore } from './index.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);
const BEFORE_CHEAPER_WRITES = 4;
const DELIVERY = `
  INSERT INTO deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
    schedule_attempts, due_at, lease_epoch, created_at, updated_at, reason, dead_cause, dead_at, max_attempts, fingerprint,
    last_error)
  VALUES (?, ?, 'app_1', 'ep_1', 'a', ?, 'scheduled', 1, 1, ?, ?, 5, 6, 'why', ?, ?, 9, ?, ?)`;
const ATTEMPT = `
  INSERT INTO attempts VALUES ('atmpt_1', 'msg_3', 'dlv_3', 'app_1', 'ep_1', 'a', 1, 'scheduled', 'http://x', 5, 1, 200, NULL,
    'ok', 0, 1, '{"kind":"delivered","reason":"HTTP 200"}')`;

let folder = '';
let path = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-store-'));
  path = join(folder, 'posthorn.db');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** A file as the version that knew so many migrations left it. */
async function writeEarlierFile(migrations: number) {
  const db = await openDb(path);
  const files = (await readdir(MIGRATIONS)).sort().slice(0, migrations);
  for (const file of files) db.exec(await readFile(new URL(file, MIGRATIONS), 'utf8'));
  db.exec(`PRAGMA user_version = ${migrations}`);
  return db;
}

describe('a file of an earlier version', () => {
  it('BUD-07 keeps its deliveries and attempts, and what was leased under the old schema is taken over', async () => {
    const old = await writeEarlierFile(BEFORE_CHEAPER_WRITES);
    old.run("INSERT INTO nodes (name, joined_at, expires_at) VALUES ('old', 1, 1000)");
    old.run(DELIVERY, 'dlv_1', 'msg_1', 'leased', 7, 1, null, null, null, null);
    old.run(DELIVERY, 'dlv_2', 'msg_2', 'leased', null, 1, null, null, null, null);
    old.run(DELIVERY, 'dlv_3', 'msg_3', 'delivered', null, null, null, null, null, null);
    old.run(DELIVERY, 'dlv_4', 'msg_4', 'dead', null, null, 'exhausted', 8, 'f', 'HTTP 500');
    old.run(ATTEMPT);
    const before = old.all('SELECT * FROM deliveries WHERE id > ? ORDER BY id', 'dlv_2');
    old.close();

    const store = await openSqliteStore({ path, thread: false });
    const { epoch } = await store.join({ now: 10, leaseMs: 1000, name: 'new', handedFrom: 'dlv_9' });
    expect((await store.counts({ most: 10 })).leased).toBe(2);
    const taken = await store.takeOver({ epoch, now: 10, limit: 10 });
    expect(taken.map(({ id, dueAt }) => [id, dueAt])).toEqual([
      ['dlv_1', 7],
      ['dlv_2', 5],
    ]);
    expect(await store.getAttempt({ messageId: 'msg_3', id: 'atmpt_1' })).toMatchObject({
      response: 'ok',
      status: 200,
    });
    await store.close();

    const db = await openDb(path);
    expect(db.all('SELECT * FROM deliveries WHERE id > ? ORDER BY id', 'dlv_2')).toMatchObject(before);
    expect(db.all('SELECT id FROM webhook_dead_letter_queue')).toEqual([]);
    expect(db.get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
    db.close();
  });
});

describe('a crash', () => {
  it('BUD-07 after a crash leaves all that was handed over to be found, however far the first heir had come', async () => {
    const lives: string[][] = [];
    const seen = new Set<string>();
    let number = 0;
    for (let life = 0; life < 4; life++) {
      const store = await openSqliteStore({ path, thread: false });
      if (life === 0) {
        const record = { id: 'app_1', name: 'A', metadata: {}, createdAt: 1, updatedAt: 1 };
        await store.insert({ kind: 'application', record });
      }
      const next = (step = 1) => `dlv_${String(number + step).padStart(4, '0')}`;
      const { epoch } = await store.join({ now: life, leaseMs: 1000, name: `life ${life}`, handedFrom: next() });
      // One delivery of those of former lives is taken over, and then this one ends too, without a word.
      const taken = await store.takeOver({ epoch, now: life, limit: 1 });
      for (const { id } of taken) seen.add(id);
      const handed = Array.from({ length: 3 }, () => `dlv_${String(++number).padStart(4, '0')}`);
      lives.push(handed);
      const items = handed.map((id) => ({
        message: {
          id: id.replace('dlv', 'msg'),
          applicationId: 'app_1',
          eventType: 'a',
          payload: new Uint8Array(),
          createdAt: life,
        },
        fanoutRevision: 1,
        deliveries: [{ id, destinationId: 'ep_1', state: 'leased' as const }],
      }));
      expect(await store.accept({ epoch, now: life, items })).toMatchObject({ fenced: false });
      const listed = await store.listDeliveries({ states: ['leased'], limit: 100, order: 'ascending' });
      expect(listed.items.map(({ id }) => id)).toEqual(lives.flat());
      expect((await store.counts({ most: 100 })).leased).toBe(lives.flat().length);
      await store.close();
    }
    expect(seen.size).toBeGreaterThan(0);
    const store = await openSqliteStore({ path, thread: false });
    const { epoch } = await store.join({ now: 9, leaseMs: 1000, name: 'heir', handedFrom: 'dlv_9' });
    const found: string[] = [];
    for (;;) {
      const taken = await store.takeOver({ epoch, now: 9, limit: 2 });
      if (taken.length === 0) break;
      found.push(...taken.map(({ id }) => id));
    }
    expect(found).toHaveLength(lives.flat().length);
    expect(new Set(found)).toEqual(new Set(lives.flat()));
    expect(await store.heartbeat({ epoch, now: 10, leaseMs: 1000 })).toBe('alone');
    await store.close();
  });
});
