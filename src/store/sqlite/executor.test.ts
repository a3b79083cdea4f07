/** The group commit, and a disk that fails. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Application } from '../../model/index.ts';
import type { AcceptItem, Store } from '../store.ts';
import { Db } from './driver.ts';
import { Executor, type Request } from './executor.ts';
import { openSqliteStore } from './index.ts';

const NOW = 1_767_225_600_000;
const APPLICATION: Application = { id: 'app_1', name: 'A', metadata: {}, createdAt: NOW, updatedAt: NOW };

let folder = '';
let store: Store;
/** The connection that the store works on. */
let db: Db;
/** What that connection was told outside of prepared statements: BEGIN, COMMIT, ROLLBACK. */
let told: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-store-'));
  const exec = vi.spyOn(Db.prototype, 'exec');
  store = await openSqliteStore({ path: join(folder, 'posthorn.db'), thread: false });
  const settings = exec.mock.calls.findIndex(([sql]) => sql.includes('synchronous = FULL'));
  db = exec.mock.contexts[settings] as Db;
  await store.insert({ kind: 'application', record: APPLICATION });
  exec.mockClear();
  told = [];
  exec.mockImplementation(function (this: Db, sql: string) {
    told.push(sql);
    original.call(this, sql);
  });
});

const original = Db.prototype.exec;

afterEach(async () => {
  vi.restoreAllMocks();
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

const commits = () => told.filter((sql) => sql === 'COMMIT').length;

function message(id: string, payload = new Uint8Array(8)): AcceptItem {
  return {
    message: { id, applicationId: 'app_1', eventType: 'a', payload, createdAt: NOW },
    fanoutRevision: 1,
    deliveries: [],
  };
}

const accept = (...items: AcceptItem[]) => store.accept({ epoch: 1, now: NOW, items });
const stored = async () =>
  (await store.listMessages({ applicationId: 'app_1', limit: 1000, order: 'ascending' })).items.map(({ id }) => id);

describe('what comes while a commit is prepared', () => {
  const accepts = (id: number, name: string): Request => ({
    id,
    name: 'accept',
    input: { epoch: 1, now: NOW, items: [message(name)] },
  });

  /** On a file of its own, beside the store's. */
  async function executing<T>(use: (executor: Executor) => T): Promise<T> {
    const executor = await Executor.open(join(folder, 'second.db'));
    try {
      executor.execute([{ id: 0, name: 'insert', input: { kind: 'application', record: APPLICATION } }]);
      told = [];
      return use(executor);
    } finally {
      executor.close();
    }
  }

  it('is part of it, and is answered in the order it came; what comes later is not waited for', async () => {
    await executing((executor) => {
      const waiting = [[accepts(2, 'msg_2'), accepts(3, 'msg_3')], [accepts(4, 'msg_4')]];
      const requests = [accepts(1, 'msg_1')];
      const replies = executor.execute(requests, () => waiting.shift() ?? []);
      expect(replies.map(({ id, ok }) => [id, ok])).toEqual([
        [1, true],
        [2, true],
        [3, true],
      ]);
      expect(requests.map(({ id }) => id)).toEqual([1, 2, 3]);
      expect(waiting).toHaveLength(1);
      expect(commits()).toBe(1);
    });
  });

  it('fails alone', async () => {
    await executing((executor) => {
      const waiting = [[accepts(2, 'msg_1')]];
      const replies = executor.execute([accepts(1, 'msg_1')], () => waiting.shift() ?? []);
      expect(replies.map(({ id, ok }) => [id, ok])).toEqual([
        [1, true],
        [2, false],
      ]);
    });
  });

  it('does not keep the first waiting for ever', async () => {
    await executing((executor) => {
      let last = 1;
      const replies = executor.execute([accepts(1, 'msg_1')], () => {
        last += 1;
        return [accepts(last, `msg_${last}`)];
      });
      expect(replies.length).toBeLessThan(10);
    });
  });
});

describe('group commit', () => {
  it('ALL-01 works on a connection that writes ahead and syncs each commit', () => {
    expect(db.get('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
    expect(db.get('PRAGMA synchronous')).toEqual({ synchronous: 2 });
  });

  it('whatever is asked for in one tick shares one commit', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, i) => accept(message(`msg_${i}`))));
    expect(commits()).toBe(1);
    expect(await stored()).toHaveLength(50);
  });

  it('ALL-01 nothing is answered before its commit', async () => {
    let committedFirst = false;
    await accept(message('msg_1')).then(() => {
      committedFirst = commits() === 1;
    });
    expect(committedFirst).toBe(true);
  });

  it('reads alone open no transaction', async () => {
    await Promise.all([store.counts({ most: 10_000 }), store.getDelivery({ id: 'dlv_none' })]);
    expect(told).toEqual([]);
  });

  it('a read sees what was written before it in the same tick', async () => {
    const [, found] = await Promise.all([
      accept(message('msg_1')),
      store.getMessage({ applicationId: 'app_1', id: 'msg_1' }),
    ]);
    expect(found?.id).toBe('msg_1');
  });

  it('a request that throws spoils only itself', async () => {
    await accept(message('msg_1'));
    const results = await Promise.allSettled([
      accept(message('msg_2')),
      accept(message('msg_3'), message('msg_1')),
      accept(message('msg_4')),
      store.counts({ most: 10_000 }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(await stored()).toEqual(['msg_1', 'msg_2', 'msg_4']);
  });
});

describe('a full disk', () => {
  it('ALL-01 is told as store_unavailable, stores nothing by halves, and passes when there is space again', async () => {
    const { page_count: pages = 0 } = db.get<{ page_count: number }>('PRAGMA page_count') ?? {};
    db.get(`PRAGMA max_page_count = ${pages + 4}`);
    const large = (id: string) => message(id, new Uint8Array(64 * 1024));
    const results = await Promise.allSettled([accept(message('msg_1')), accept(message('msg_2'), large('msg_3'))]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await expect(accept(large('msg_4'))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('Free some space'),
    });
    expect(await stored()).toEqual(['msg_1']);
    expect(db.get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
    db.get('PRAGMA max_page_count = 1000000');
    await accept(large('msg_5'));
    expect(await stored()).toEqual(['msg_1', 'msg_5']);
  });
});

describe('a disk that fails', () => {
  it('ALL-01 is not asked again: after a failed commit nothing more is taken until a restart', async () => {
    vi.mocked(db.exec).mockImplementation(function (this: Db, sql: string) {
      told.push(sql);
      if (sql === 'COMMIT' && commits() === 1) throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
      original.call(this, sql);
    });
    const results = await Promise.allSettled([accept(message('msg_1')), accept(message('msg_2'))]);
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } });
    }
    expect(commits()).toBe(1);
    await expect(store.counts({ most: 10_000 })).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(commits()).toBe(1);
  });
});
