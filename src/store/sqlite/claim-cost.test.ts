/** The cost of a claim, told by what SQLite plans to touch rather than by a clock. */
import { afterEach, describe, expect, it } from 'vitest';
import { claim } from './claim.ts';
import { Db, openDb, type SqlValue } from './driver.ts';
import { migrate } from './migrate.ts';
import { join } from './nodes.ts';

const NOW = 1_000_000_000;
const FILL = `
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
  INSERT INTO deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
    schedule_attempts, due_at, created_at, updated_at, reason)
  SELECT printf('dlv_%08d', i), printf('msg_%08d', i), 'app_1', 'ep_1', 'a', 'pending', 'scheduled', 0, 0, i, i, i, ''
  FROM n`;
const FILL_MESSAGES = `
  INSERT INTO messages (id, application_id, event_type, payload, created_at)
  SELECT message_id, application_id, 'a', x'00', 0 FROM deliveries LIMIT 10`;
const ENDPOINT = `
  INSERT INTO endpoints (id, parent_id, revision, doc, status, reason, failure_count)
  VALUES ('ep_1', 'app_1', 1, '{}', 'active', '', 0)`;

let opened: Db | undefined;
afterEach(() => opened?.close());

/** A database that remembers which statements a claim makes, and on how many rows they answered. */
async function backlogOf(rows: number) {
  const db = await openDb(':memory:');
  opened = db;
  migrate(db, ':memory:');
  db.run(FILL, rows);
  db.run(FILL_MESSAGES);
  db.run(ENDPOINT);
  db.run("INSERT INTO lanes (destination_id, due_at) VALUES ('ep_1', 1)");
  const { epoch } = join(db, { now: NOW, leaseMs: 1000, name: 'test' });
  return { db, epoch };
}

function watch(db: Db): { watched: Db; statements: { sql: string; rows: number }[] } {
  const statements: { sql: string; rows: number }[] = [];
  const note = (sql: string, rows: number) => statements.push({ sql, rows });
  const watched = Object.assign(Object.create(Db.prototype) as Db, {
    run(sql: string, ...params: SqlValue[]) {
      const changes = db.run(sql, ...params);
      note(sql, changes);
      return changes;
    },
    get(sql: string, ...params: SqlValue[]) {
      const row = db.get(sql, ...params);
      note(sql, row === undefined ? 0 : 1);
      return row;
    },
    all(sql: string, ...params: SqlValue[]) {
      const rows = db.all(sql, ...params);
      note(sql, rows.length);
      return rows;
    },
  });
  return { watched, statements };
}

function planOf(db: Db, sql: string): string[] {
  const params = Array.from(sql.matchAll(/\?/g), () => null);
  return db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...params).map(({ detail }) => detail);
}

describe('claim', () => {
  it('ALL-03 makes the same statements, over the same indexes and rows, for ten pending deliveries and for 100,000', async () => {
    const costs = [];
    for (const rows of [10, 100_000]) {
      const { db, epoch } = await backlogOf(rows);
      const { watched, statements } = watch(db);
      const input = { epoch, now: NOW, lanes: [], discover: { lanes: 10, room: 5 } };
      expect(claim(watched, input).deliveries).toHaveLength(5);
      costs.push(statements.map(({ sql, rows: touched }) => ({ sql, touched, plan: planOf(db, sql) })));
      db.close();
      opened = undefined;
    }
    expect(costs[1]).toEqual(costs[0]);
  });

  it('reads a lane by the index of pending deliveries, in order: no scan, no sort', async () => {
    const { db, epoch } = await backlogOf(10);
    const { watched, statements } = watch(db);
    claim(watched, { epoch, now: NOW, lanes: [], discover: { lanes: 10, room: 5 } });
    const plans = statements.flatMap(({ sql }) => planOf(db, sql));
    // The rows of a subquery are those that its limit let through.
    const isBounded = (detail: string) => detail.includes('USING INDEX lanes_due') || detail.includes('(subquery');
    expect(plans.filter((detail) => /^SCAN|TEMP B-TREE/.test(detail) && !isBounded(detail))).toEqual([]);
    expect(plans.some((detail) => detail.includes('deliveries_pending'))).toBe(true);
  });
});
