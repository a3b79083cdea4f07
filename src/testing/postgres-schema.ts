/** A schema of its own on the test server: a new one, or one that an earlier test is done with. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface TestSchema {
  /** For openPostgresStore. */
  readonly url: string;
  readonly name: string;
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  /** Takes every row out; partitions and triggers stay. */
  empty(): Promise<void>;
  drop(): Promise<void>;
}

export interface BorrowedSchema extends Pick<TestSchema, 'url'> {
  /** For the next one: whatever is in it by then is taken out. */
  giveBack(): Promise<void>;
}

// DELETE, not TRUNCATE: with a few rows it is a hundred times cheaper.
const TABLES = `nodes applications sources endpoints event_types policies tokens messages event_ids deliveries attempts lanes
  remembered outbox upkeep`;

export async function createTestSchema(): Promise<TestSchema> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const client = await connect();
  const url = await urlOf(client, name);
  await client.query(`SET search_path TO ${name}`);
  const query = async <R extends pg.QueryResultRow>(text: string, values?: unknown[]) =>
    (await client.query<R>(text, values)).rows;
  return {
    url,
    name,
    query,
    empty: () => emptyTables(client),
    async drop() {
      await query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
      await client.end();
    },
  };
}

/**
 * Empty, but for partitions, and its first node gets epoch 1. To make a schema takes longer than most tests do: those of
 * one run are passed on, and the lock on the name, which goes with its connection, says whose it is.
 */
export async function borrowTestSchema(): Promise<BorrowedSchema> {
  const client = await connect();
  for (let n = 1; ; n++) {
    const name = `test_${process.env.POSTHORN_TEST_RUN ?? process.pid}_${n}`;
    const { rows } = await client.query<{ mine: boolean; made: string | null }>(
      `SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS mine, to_regclass($1 || '.migrations')::text AS made`,
      [name],
    );
    if (rows[0]?.mine !== true) continue;
    await client.query(`SET search_path TO ${name}`);
    if (rows[0].made !== null) {
      await emptyTables(client);
      await client.query('ALTER TABLE nodes ALTER COLUMN epoch RESTART');
    }
    return { url: await urlOf(client, name), giveBack: () => client.end() };
  }
}

async function emptyTables(client: pg.Client): Promise<void> {
  await client.query(
    TABLES.split(/\s+/)
      .map((table) => `DELETE FROM ${table}`)
      .join(';'),
  );
}

/** Past the door that started it (scripts/services.mjs): all that goes through costs that process as much as the server. */
async function urlOf(client: pg.Client, schema: string): Promise<string> {
  const url = new URL(server());
  if (process.env.POSTHORN_TEST_POSTGRES_IS_OURS !== undefined) {
    url.port = (await client.query<{ port: string }>('SHOW port')).rows[0]?.port ?? url.port;
  }
  url.searchParams.set('schema', schema);
  return url.href;
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server() });
  client.on('error', () => {});
  await client.connect();
  return client;
}

function server(): string {
  const url = process.env.POSTHORN_TEST_POSTGRES_URL;
  if (!url)
    throw new Error('POSTHORN_TEST_POSTGRES_URL names no PostgreSQL server: `npm test` starts one and sets it.');
  return url;
}
