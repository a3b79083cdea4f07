/** What `posthorn doctor` asks of a server: nothing is made or changed. */
import type { Clock } from '../../clock.ts';
import type { Counts } from '../store.ts';
import { clientConfig } from './client-config.ts';
import { Db, statement } from './driver.ts';
import type { SchemaState } from './migrate.ts';
import { inspectServer } from './prepare-server.ts';
import { counts } from './reads.ts';

export interface PostgresFindings {
  readonly schema: SchemaState;
  /** How far this machine's clock is ahead of the server's; what the question itself took is allowed for. */
  readonly clockAheadMs: number;
  /** Of a schema that is up to date. */
  readonly counts?: Counts;
}

const CONNECT_TIMEOUT_MS = 10_000;
const TIME = statement('server_time', 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now');

export async function inspectPostgres(options: { url: string; clock: Clock; most: number }): Promise<PostgresFindings> {
  const { clock, most } = options;
  const { client, schema: name } = clientConfig(options);
  const schema = await inspectServer({ ...client, connectionTimeoutMillis: CONNECT_TIMEOUT_MS }, name);
  const shared = { client, schema: name, clock, channel: '', teller: '', poolSize: 1 };
  const db = new Db({ ...shared, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  try {
    // Once for the connection, once for the time.
    await db.all(TIME);
    const before = clock.now();
    const [row] = await db.all<{ now: number }>(TIME);
    const after = clock.now();
    const there = row?.now ?? after;
    const clockAheadMs = there < before ? before - there : Math.min(0, after - there);
    return { schema, clockAheadMs, ...(schema === 'current' && { counts: await counts(db, { most }) }) };
  } finally {
    await db.close();
  }
}
