/** The cost of a claim, told by the plan and the pages that it touches rather than by a clock. */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestSchema, type TestSchema } from '../../testing/postgres-schema.ts';
import { LEASE_DUE, LOCK_DUE, SETTLE_LANES } from './claim.ts';
import { clientConfig } from './client-config.ts';
import { openPostgresStore } from './index.ts';

const MANY = Number(process.env.POSTHORN_TEST_PENDING ?? 200_000);
const NOW = 1_000_000_000;
const FILL = `
  INSERT INTO deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
    schedule_attempts, due_at, created_at, updated_at, reason)
  SELECT 'dlv_' || lpad(i::text, 8, '0'), 'msg_' || lpad(i::text, 8, '0'), 'app_1', 'ep_1', 'a', 'pending', 'scheduled', 0,
    0, i, i, i, ''
  FROM generate_series($1::int, $2::int) i`;
const SCENE = `
  INSERT INTO messages (id, application_id, event_type, payload, created_at)
    SELECT 'msg_' || lpad(i::text, 8, '0'), 'app_1', 'a', '', 0 FROM generate_series(1, 10) i;
  INSERT INTO endpoints (id, parent_id, revision, doc, status, reason, failure_count) VALUES ('ep_1', 'app_1', 1, '{}', 'active', '', 0);
  INSERT INTO lanes (destination_id, due_at) VALUES ('ep_1', 1);`;

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: Plan[];
}

let schema: TestSchema;
let client: pg.Client;

beforeEach(async () => {
  schema = await createTestSchema();
  await (await openPostgresStore({ url: schema.url })).close();
  await schema.query(SCENE);
  client = new pg.Client({ ...clientConfig({ url: schema.url }).client, statement_timeout: 0 });
  await client.connect();
});

afterEach(async () => {
  await client.end();
  await schema.drop();
});

/** Explains what a claim does, on rows that stay as they were. */
async function explainClaim(): Promise<Plan[]> {
  const plans: Plan[] = [];
  // Prepared, as the adapter does: one plan for whatever comes.
  const statements = [
    [LOCK_DUE.text, `${NOW}, '{}', 10, '{}'`],
    [LEASE_DUE.text, `1, ${NOW}, '{ep_1}', '{5}', 1000000`],
    [SETTLE_LANES.text, `1, ${NOW}, '{ep_1}'`],
  ];
  await client.query('BEGIN');
  for (const [text, values] of statements) {
    await client.query(`PREPARE claiming AS ${text}`);
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE claiming (${values})`);
    plans.push(rows[0]['QUERY PLAN'][0].Plan);
    await client.query('DEALLOCATE claiming');
  }
  await client.query('ROLLBACK');
  return plans;
}

function nodes(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

function shape(plans: readonly Plan[]): string[] {
  return plans
    .flatMap(nodes)
    .map((node) => `${node['Node Type']} ${node['Index Name'] ?? node['Relation Name'] ?? ''}`);
}

function pages(plans: readonly Plan[]): number {
  return plans.reduce((sum, plan) => sum + (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0), 0);
}

describe('claim', () => {
  it(`ALL-03 goes the same way and touches hardly more pages for ten pending deliveries and for ${MANY}`, {
    timeout: 600_000,
  }, async () => {
    await client.query(FILL, [1, 10]);
    await client.query('VACUUM ANALYZE deliveries');
    const few = await explainClaim();
    await client.query(FILL, [11, MANY]);
    await client.query('VACUUM ANALYZE deliveries');
    await explainClaim();
    const many = await explainClaim();
    expect(shape(many)).toEqual(shape(few));
    expect(shape(many).filter((node) => /^(Seq Scan|Bitmap)/.test(node))).toEqual([]);
    expect(shape(many).some((node) => node.includes('deliveries_pending'))).toBe(true);
    // A deeper index costs a page or two more for each descent into it; a backlog that is read would cost thousands.
    expect(pages(many)).toBeLessThan(2 * pages(few) + 100);
  });
});
