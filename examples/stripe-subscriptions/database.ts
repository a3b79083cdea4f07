/** The program's own database: SQLite in a file, or PostgreSQL. One way to ask both, which is also Posthorn's. */
import { DatabaseSync } from '@photostructure/sqlite';
import pg from 'pg';

export interface Sql {
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

export interface Database extends Sql {
  /** Whether handlers can write in the transaction that also records them. */
  readonly canShareCommit: boolean;
  close(): Promise<void>;
}

/** Times are ISO 8601 in UTC, as text: they sort as they should and read the same in both databases. */
const TABLES = [
  `CREATE TABLE IF NOT EXISTS users (
    id                 TEXT PRIMARY KEY,
    email              TEXT NOT NULL,
    stripe_customer_id TEXT NOT NULL UNIQUE,
    tier               TEXT NOT NULL DEFAULT 'free'
  )`,
  // said: the status that the newest event of the subscription itself gave, which Stripe made at as_of. status: what follows
  // from it and from the invoices since.
  `CREATE TABLE IF NOT EXISTS subscriptions (
    id                   TEXT PRIMARY KEY,
    user_id              TEXT NOT NULL REFERENCES users (id),
    tier                 TEXT NOT NULL,
    said                 TEXT NOT NULL,
    status               TEXT NOT NULL,
    trial_start          TEXT,
    trial_end            TEXT,
    current_period_start TEXT NOT NULL,
    current_period_end   TEXT NOT NULL,
    canceled_at          TEXT,
    as_of                TEXT NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS payments (
    event_id        TEXT PRIMARY KEY,
    subscription_id TEXT NOT NULL REFERENCES subscriptions (id),
    invoice_id      TEXT NOT NULL,
    outcome         TEXT NOT NULL CHECK (outcome IN ('paid', 'failed')),
    amount          INTEGER NOT NULL,
    currency        TEXT NOT NULL,
    created_at      TEXT NOT NULL
  )`,
];

export const isPostgres = (location: string): boolean => /^postgres(ql)?:/.test(location);

/**
 * The URL with `public` as its search path. By default PostgreSQL looks first in a schema of the role's name: for a role
 * `posthorn` that is Posthorn's own, from the second start on.
 */
export function inPublic(postgresUrl: string): string {
  const url = new URL(postgresUrl);
  const given = url.searchParams.get('options') ?? '';
  url.searchParams.set('options', `${given} -c search_path=public`.trim());
  return url.href;
}

/** `postgres://…`, or the path of a SQLite file. */
export async function openDatabase(location: string): Promise<Database> {
  const database = isPostgres(location) ? openPostgres(location) : openSqlite(location);
  for (const table of TABLES) await database.query(table);
  return database;
}

function openPostgres(connectionString: string): Database {
  const pool = new pg.Pool({ connectionString });
  // A connection that breaks while nobody uses it is replaced; without this it would end the process.
  pool.on('error', () => {});
  return {
    canShareCommit: true,
    query: (text, values) => pool.query(text, values === undefined ? undefined : [...values]),
    close: () => pool.end(),
  };
}

function openSqlite(path: string): Database {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON');
  return {
    canShareCommit: false,
    async query(text, values = []) {
      const named = Object.fromEntries(values.map((value, index) => [`$${index + 1}`, value as string]));
      return { rows: database.prepare(text).all(named) };
    },
    close: async () => database.close(),
  };
}
