/** How a connection is made: from the URL, and what every connection of ours must have. */
import pg from 'pg';
import { PosthornError } from '../../errors.ts';

export interface ConnectionOptions {
  readonly url: string;
  readonly schema?: string;
  readonly statementTimeoutMs?: number;
  /** How long a transaction may lie still before the server ends it; ten seconds without it. */
  readonly idleInTransactionMs?: number;
}

const DEFAULT_SCHEMA = 'posthorn';
const DEFAULT_IDLE_MS = 10_000;
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,49}$/;
const INT8 = 20;

/** Times and counts fit into a double; the driver would give them as text. */
export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary'): unknown =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/** One plan per statement, over indexes: a plan made while a table was small would scan it when it no longer is. */
const SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  // Every join of ours looks up a few rows by key. The planner, which must guess how few, would read a whole index instead.
  enable_mergejoin: 'off',
  enable_hashjoin: 'off',
  jit: 'off',
};

/** For our statements on a connection that is the user's until its transaction ends. */
export function setLocal(schema: string): string {
  const idle = { idle_in_transaction_session_timeout: DEFAULT_IDLE_MS };
  return Object.entries({ ...SETTINGS, ...idle, search_path: schema })
    .map(([name, value]) => `SET LOCAL ${name} = ${value}`)
    .join(';');
}

/** For statements that are the user's: they are planned, and their answers read, as on any connection of `pg`. */
export function plainClientConfig(options: ConnectionOptions): pg.ClientConfig {
  const { client } = clientConfig(options);
  const { types: _, options: __, statement_timeout: ___, ...plain } = client;
  const asked = parse(options.url).searchParams.get('options');
  return asked === null ? plain : { ...plain, options: asked };
}

export function clientConfig(options: ConnectionOptions): { client: pg.ClientConfig; schema: string } {
  const url = parse(options.url);
  const schema = options.schema ?? url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA_NAME.test(schema)) {
    throw new PosthornError(
      'config_invalid',
      'The schema of a PostgreSQL store must be lower-case letters, digits and _, not begin with a digit, and have 50 characters at most.',
    );
  }
  // A stopped process holds the locks of its open transaction, and takeOver waits for them: the server must end it.
  const idle = { idle_in_transaction_session_timeout: options.idleInTransactionMs ?? DEFAULT_IDLE_MS };
  const settings = Object.entries({ ...SETTINGS, ...idle, search_path: schema }).map(
    ([name, value]) => `-c ${name}=${value}`,
  );
  const asked = url.searchParams.get('options');
  url.searchParams.delete('schema');
  url.searchParams.delete('options');
  const client: pg.ClientConfig & { pipeline: boolean } = {
    connectionString: url.href,
    application_name: url.searchParams.get('application_name') ?? 'posthorn',
    options: [...(asked === null ? [] : [asked]), ...settings].join(' '),
    statement_timeout: options.statementTimeoutMs ?? 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    pipeline: true,
    types: TYPES,
  };
  return { client, schema };
}

function parse(url: string): URL {
  try {
    return new URL(url);
  } catch {
    // The URL is not repeated: it may hold a password.
    throw new PosthornError(
      'config_invalid',
      'The store URL cannot be read. It must look like postgres://user:password@host:5432/database, with special characters in the password percent-encoded.',
    );
  }
}
