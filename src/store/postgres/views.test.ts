/** The two relations that people query by hand, as PostgreSQL's types. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestSchema, type TestSchema } from '../../testing/postgres-schema.ts';
import { openPostgresStore } from './index.ts';

const docs = readFileSync(new URL('../../../docs/dead-letters.md', import.meta.url), 'utf8');
const MIGRATIONS = new URL('./migrations/', import.meta.url);

let schema: TestSchema;
beforeEach(async () => {
  schema = await createTestSchema();
});
afterEach(() => schema.drop());

/** One that waits for a retry and one that is dead, of each of these payloads. */
async function insertBoth(payloads: readonly string[]): Promise<void> {
  for (const [n, hex] of payloads.entries()) {
    await schema.query(
      `INSERT INTO messages (id, application_id, event_id, event_type, payload, created_at)
       VALUES ($1, 'src_1', $2, 'invoice.paid', decode($3, 'hex'), (extract(epoch FROM now()) * 1000)::bigint)`,
      [`msg_${n}`, `evt_${n}`, hex],
    );
    const columns = `id, message_id, application_id, destination_id, event_type, trigger_kind, attempts, schedule_attempts,
      reason, due_at, created_at, updated_at, state`;
    const both = `'msg_${n}', 'src_1', 'hdl_%', 'invoice.paid', 'scheduled', 1, 1, 'r', 1767225600123, 1767225600000, 1767225600000`;
    await schema.query(`INSERT INTO deliveries (${columns}) VALUES ('dlv_${n}', ${both.replace('%', '1')}, 'pending')`);
    await schema.query(
      `INSERT INTO deliveries (${columns}, dead_cause, dead_at, fingerprint, last_error)
       VALUES ('dlv_dead_${n}', ${both.replace('%', '2')}, 'dead', 'exhausted', (extract(epoch FROM now()) * 1000)::bigint, 'f', 'e')`,
    );
  }
}

const hexOf = (text: string) => Buffer.from(text).toString('hex');
const VIEWS = ['webhook_retry_queue', 'webhook_dead_letter_queue'];

describe('webhook_retry_queue and webhook_dead_letter_queue', () => {
  it('SUB-09 have times that compare with now(), and payloads to look into', async () => {
    await (await openPostgresStore({ url: schema.url, poolSize: 1 })).close();
    await insertBoth([hexOf('{"id": "evt_0", "data": {"amount": 5}}')]);
    const typed = await schema.query(
      `SELECT table_name, column_name, data_type FROM information_schema.columns
       WHERE table_schema = $1 AND table_name = ANY($2) AND data_type NOT IN ('text', 'integer')
       ORDER BY 1 DESC, ordinal_position`,
      [schema.name, VIEWS],
    );
    expect(typed.map(({ table_name, column_name, data_type }) => [table_name, column_name, data_type])).toEqual([
      ['webhook_retry_queue', 'payload', 'jsonb'],
      ['webhook_retry_queue', 'next_retry_at', 'timestamp with time zone'],
      ['webhook_retry_queue', 'created_at', 'timestamp with time zone'],
      ['webhook_retry_queue', 'updated_at', 'timestamp with time zone'],
      ['webhook_dead_letter_queue', 'payload', 'jsonb'],
      ['webhook_dead_letter_queue', 'original_timestamp', 'timestamp with time zone'],
      ['webhook_dead_letter_queue', 'created_at', 'timestamp with time zone'],
    ]);
    expect(await schema.query('SELECT next_retry_at, payload FROM webhook_retry_queue')).toEqual([
      { next_retry_at: new Date('2026-01-01T00:00:00.123Z'), payload: { id: 'evt_0', data: { amount: 5 } } },
    ]);
    const [documented = ''] = [...docs.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) => sql);
    expect(await schema.query(documented)).toMatchObject([{ stripe_event_id: 'evt_0', id: 'evt_0', error: 'r' }]);
  });

  it('SUB-09 PAY-09 show what is no JSON as a string, and hide nothing for it, in parallel queries too', async () => {
    await (await openPostgresStore({ url: schema.url, poolSize: 1 })).close();
    const payloads = [hexOf('{"n":1}'), hexOf('a=1&b=%20'), hexOf('{"a":"\\u0000"}'), '', 'ff00', '7b00'];
    await insertBoth(payloads);
    await schema.query('ANALYZE messages, deliveries');
    for (const setting of ['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size']) {
      await schema.query(`SET ${setting} = 0`);
    }
    for (const view of VIEWS) {
      const rows = await schema.query(`SELECT payload, payload->>'n' AS n FROM ${view} ORDER BY stripe_event_id`);
      expect(rows.map(({ payload }) => payload)).toEqual([
        ...[{ n: 1 }, 'a=1&b=%20', '{"a":"\\u0000"}', '', '\\377\\000', '{\\000'],
      ]);
      expect(rows.map(({ n }) => n)).toEqual(['1', null, null, null, null, null]);
    }
  });

  it('keep who may read them when they are made anew, and a role that may read nothing else reads them', async () => {
    const files = readdirSync(MIGRATIONS).sort();
    const role = `${schema.name}_reader`;
    await schema.query(`CREATE SCHEMA ${schema.name}`);
    await schema.query('CREATE TABLE migrations (version integer PRIMARY KEY, file text NOT NULL)');
    for (const [index, file] of files.filter((each) => each < '0006').entries()) {
      await schema.query(readFileSync(new URL(file, MIGRATIONS), 'utf8'));
      await schema.query('INSERT INTO migrations (version, file) VALUES ($1, $2)', [index + 1, file]);
    }
    await schema.query(`CREATE ROLE ${role}`);
    try {
      await schema.query(`GRANT USAGE ON SCHEMA ${schema.name} TO ${role}`);
      await schema.query(`GRANT SELECT ON webhook_dead_letter_queue TO ${role}`);
      await (await openPostgresStore({ url: schema.url, poolSize: 1 })).close();
      await insertBoth([hexOf('a=1')]);
      await schema.query(`SET ROLE ${role}; SET search_path TO public`);
      const read = (view: string) => schema.query(`SELECT payload FROM ${schema.name}.${view}`);
      expect(await read('webhook_dead_letter_queue')).toEqual([{ payload: 'a=1' }]);
      await expect(read('webhook_retry_queue')).rejects.toThrow(/permission denied/);
    } finally {
      await schema.query('RESET ROLE');
      await schema.query(`DROP OWNED BY ${role}`);
      await schema.query(`DROP ROLE ${role}`);
    }
  });
});
