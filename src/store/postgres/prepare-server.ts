/** Looks at the server before it is used: can it be reached, is it safe to trust, is the schema ours and up to date. */
import pg from 'pg';
import { describeError, isPosthornError, PosthornError } from '../../errors.ts';
import { explain, sqlState } from './explain.ts';
import { migrate, type SchemaState, stateOf } from './migrate.ts';
import { halfMoved, hasOpenTransfer } from './open-transfer.ts';

const OLDEST_VERSION = 130_000;

/** `forTransfer`: the schema may be one that another store is being moved to. */
export async function prepareServer(
  config: pg.ClientConfig,
  schema: string,
  { forTransfer = false } = {},
): Promise<void> {
  await withClient(config, async (client) => {
    await check(client);
    await migrate(client, schema);
    if (!forTransfer && (await hasOpenTransfer(client, schema))) throw halfMoved(schema);
  });
}

/** Looks only: nothing is made or changed. Answers whether the schema is there and up to date. */
export async function inspectServer(config: pg.ClientConfig, schema: string): Promise<SchemaState> {
  return withClient(config, async (client) => {
    await check(client);
    return stateOf(client, schema);
  });
}

async function withClient<T>(config: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  // One statement at a time here: a migration must not run into the statement after it.
  const client = new pg.Client({ ...config, pipeline: false, statement_timeout: 0 } as pg.ClientConfig);
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    throw isPosthornError(error) ? error : cannotOpen(client, error);
  } finally {
    await client.end().catch(() => {});
  }
}

async function check(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Record<string, string>>(`
    SELECT current_setting('synchronous_commit') AS commits, current_setting('server_version_num') AS version,
      current_setting('server_encoding') AS encoding`);
  const { commits, version, encoding } = rows[0] ?? {};
  if (commits === 'off') {
    throw new PosthornError(
      'config_invalid',
      'PostgreSQL has synchronous_commit = off here: it would answer before a message is on disk, and lose it in a crash. Set it to on, for the server, the database or the role that Posthorn uses.',
    );
  }
  if (Number(version) < OLDEST_VERSION) {
    throw new PosthornError('config_invalid', `PostgreSQL 13 or newer is needed; this server is older (${version}).`);
  }
  if (encoding !== 'UTF8') {
    throw new PosthornError(
      'config_invalid',
      `The database is encoded in ${encoding}; create one with ENCODING 'UTF8'.`,
    );
  }
}

function cannotOpen({ user, host, port, database }: pg.Client, error: unknown): unknown {
  const at = `${user ?? ''}@${host}:${port}/${database ?? ''}`;
  const advice = ADVICE[sqlState(error)] ?? 'Is the server there, and does POSTHORN_STORE name it?';
  const told = explain(error);
  return new PosthornError(
    'store_unavailable',
    `Cannot open the PostgreSQL store at ${at}: ${describeError(told === error ? error : ((told as Error).cause ?? error)) || sqlState(error)}. ${advice}`,
    { cause: error },
  );
}

const ADVICE: Readonly<Record<string, string>> = {
  '28P01': 'Check the user and the password in POSTHORN_STORE.',
  '28000': 'Check the user in POSTHORN_STORE and what pg_hba.conf allows it.',
  '3D000': 'Create that database, or name another one in POSTHORN_STORE.',
  '42501':
    'The role needs the right to create a schema in this database, or a schema that is its own (CREATE SCHEMA posthorn AUTHORIZATION …).',
  '25006': 'It takes no writes: name the primary in POSTHORN_STORE.',
};
