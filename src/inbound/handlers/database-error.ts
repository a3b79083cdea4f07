/** Errors of databases and of what is put before them: pg, postgres.js, mysql2, SQLite, Prisma, Sequelize, Knex, MongoDB. */
import type { ErrorKind } from '../../model/index.ts';

const SQLSTATE = /^[0-9A-Z]{5}$/;
const UNIQUE_VIOLATIONS = new Set([
  '23505',
  'ER_DUP_ENTRY',
  'SQLITE_CONSTRAINT_UNIQUE',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  'SQLITE_CONSTRAINT_ROWID',
  'P2002',
  '11000',
]);
/** Data that this table will never take. A missing foreign row (23503) may only be late, and is retried. */
const BAD_DATA =
  /^(22...|23502|23514|ER_DATA_TOO_LONG|ER_BAD_NULL_ERROR|SQLITE_CONSTRAINT_(NOTNULL|CHECK|DATATYPE)|SQLITE_MISMATCH|P2000|P2011|P2012)$/;
/** node:sqlite has one code for all, and SQLite's number where better-sqlite3 says its name; what is not here may pass. */
const SQLITE_NUMBERS: ReadonlyMap<unknown, string> = new Map([
  [20, 'SQLITE_MISMATCH'],
  [275, 'SQLITE_CONSTRAINT_CHECK'],
  [1299, 'SQLITE_CONSTRAINT_NOTNULL'],
  [1555, 'SQLITE_CONSTRAINT_PRIMARYKEY'],
  [2067, 'SQLITE_CONSTRAINT_UNIQUE'],
  [2579, 'SQLITE_CONSTRAINT_ROWID'],
  [3091, 'SQLITE_CONSTRAINT_DATATYPE'],
]);
const DATABASE_CODES =
  /^(ER_|SQLITE_|PROTOCOL_|P1\d{3}$|P20(24|28|34)$|ERR_SQLITE_ERROR$|CONNECTION_(CLOSED|ENDED|DESTROYED)$|CONNECT_TIMEOUT$)/;
const DATABASE_NAMES =
  /^(DatabaseError|PrismaClient|Sequelize(Connection|Timeout|Database|Host|\w+Constraint)|Mongo|KnexTimeoutError|QueryFailedError|SqliteError)/;
/** pg and its pool say these without a code. */
const DATABASE_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after calling end|sorry, too many clients)/;
const DATABASE_PORTS = new Set([5432, 6432, 3306, 1433, 27017]);

export function databaseKind(error: object): ErrorKind | undefined {
  const { name, message, port, parent, original } = error as Readonly<Record<string, unknown>>;
  const title = typeof name === 'string' ? name : '';
  // Sequelize gives its errors no code, and keeps the driver's.
  const driver = title.startsWith('Sequelize') ? (parent ?? original) : undefined;
  const code = codeOf(typeof driver === 'object' && driver !== null ? driver : error);
  const known =
    DATABASE_CODES.test(code) ||
    DATABASE_NAMES.test(title) ||
    ('severity' in error && SQLSTATE.test(code)) ||
    'sqlState' in error;
  const isTaken =
    UNIQUE_VIOLATIONS.has(code) ||
    title === 'SequelizeUniqueConstraintError' ||
    /UNIQUE constraint/i.test(String(message));
  if (known && isTaken) return 'duplicate';
  if (known && BAD_DATA.test(code)) return 'validation';
  if (known || (typeof port === 'number' && DATABASE_PORTS.has(port))) return 'database';
  return typeof message === 'string' && DATABASE_MESSAGES.test(message) ? 'database' : undefined;
}

function codeOf(error: object): string {
  const { code, errcode } = error as Readonly<Record<string, unknown>>;
  if (code === 'ERR_SQLITE_ERROR') return SQLITE_NUMBERS.get(errcode) ?? code;
  return typeof code === 'string' || typeof code === 'number' ? String(code) : '';
}
