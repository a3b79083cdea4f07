import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Db, openDb } from './driver.ts';
import { listGroups } from './list-groups.ts';
import { migrate } from './migrate.ts';

const INSERT = `
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
  INSERT INTO deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
    schedule_attempts, created_at, updated_at, reason, dead_cause, dead_at, fingerprint, last_error)
  SELECT 'dlv_' || i, 'msg_' || i, 'app_' || (i % 3), 'ep_1', 'event', 'dead', 'scheduled', 1, 1, i, i, '', 'rejected', i,
    'f' || (i % 2), 'HTTP 500' FROM n`;

let db: Db;

beforeEach(async () => {
  db = await openDb(':memory:');
  migrate(db, ':memory:');
});

afterEach(() => db.close());

/** Every statement that listing asks for, with its plan. */
function plansOf(run: (spied: Db) => void): string[] {
  const seen = new Set<string>();
  const spied = {
    get: (sql: string, ...params: never[]) => {
      seen.add(sql);
      return db.get(sql, ...params);
    },
  } as unknown as Db;
  run(spied);
  return [...seen].flatMap((sql) =>
    db
      .all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql.replaceAll('?', "'1'")}`)
      .map(({ detail }) => detail)
      .filter((detail) => detail.includes('deliveries')),
  );
}

describe('listGroups', () => {
  it('reads ranges of one index alone, and sorts nothing: its cost does not grow with the number of dead letters', () => {
    db.run(INSERT, 6000);
    const plans = plansOf((spied) => {
      expect(listGroups(spied, { limit: 10, most: 100 }).groups).toHaveLength(6);
      expect(listGroups(spied, { applicationId: 'app_1', limit: 10, most: 100 }).groups).toMatchObject([
        { fingerprint: 'f0', count: 100 },
        { fingerprint: 'f1', count: 100 },
      ]);
    });
    expect(plans.length).toBeGreaterThanOrEqual(5);
    for (const plan of plans)
      expect(plan).toMatch(/^SEARCH deliveries USING (COVERING )?INDEX deliveries_dead_groups \(/);
  });
});
