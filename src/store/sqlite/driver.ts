/**
 * The one small door to SQLite: Node's own `node:sqlite` where there is one, else the package that speaks the same
 * interface. Typed structurally, so that another driver can be dropped in.
 */
export type SqlValue = string | number | bigint | null | Uint8Array;
export type Row = Record<string, SqlValue>;

interface DriverStatement {
  run(...params: SqlValue[]): { changes: number | bigint };
  get(...params: SqlValue[]): unknown;
  all(...params: SqlValue[]): unknown[];
}

interface DriverDatabase {
  exec(sql: string): void;
  prepare(sql: string): DriverStatement;
  close(): void;
}

interface DriverModule {
  DatabaseSync: new (path: string) => DriverDatabase;
}

async function loadDriver(): Promise<DriverModule> {
  try {
    const builtin = 'node:sqlite';
    return (await import(builtin)) as DriverModule;
  } catch {
    return (await import('@photostructure/sqlite')) as unknown as DriverModule;
  }
}

/**
 * A statement over rows of values. In `row`, each `?` is a value of the row's own. `?1`, `?2`, … are shared by all rows, and
 * each must be named before the first `?`: SQLite numbers those on from there. Numbering them here would make drivers look
 * each of them up in a list of names at every call.
 */
export interface RowsStatement {
  readonly text: (rows: string) => string;
  readonly row: string;
}

/** `into` is `table (columns)`; without `row`, each column is a value of the row's own. */
export function insertRows(into: string, row = `(${into.replace(/.*\(/s, '').replace(/[^,)]+/g, '?')}`): RowsStatement {
  // Every failure takes the whole transaction back. Without OR FAIL SQLite would copy each page that the statement
  // touches, to be able to take back the statement alone: a fifth of its cost (November 2026).
  return { text: (rows) => `INSERT OR FAIL INTO ${into} VALUES ${rows}`, row };
}

const OWN_VALUE = /\?(?!\d)/g;
/** Many rows a statement: what a statement costs by itself is as much as several rows of it. */
const ROWS_AT_ONCE = [16, 4, 1];

interface PreparedForRows {
  /** Values a row. */
  readonly width: number;
  readonly sizes: readonly { readonly count: number; readonly prepared: DriverStatement }[];
}

/** A database with its prepared statements kept: SQL text is the key, so each statement is compiled once. */
export class Db {
  readonly #database: DriverDatabase;
  readonly #statements = new Map<string, DriverStatement>();
  readonly #forRows = new Map<RowsStatement, PreparedForRows>();

  constructor(database: DriverDatabase) {
    this.#database = database;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  run(sql: string, ...params: SqlValue[]): number {
    return Number(this.#statement(sql).run(...params).changes);
  }

  /** `values` are those of all rows, one after the other. Answers how many rows were changed. */
  runRows(statement: RowsStatement, shared: readonly SqlValue[], values: readonly SqlValue[]): number {
    const { width, sizes } = this.#preparedForRows(statement);
    let changes = 0;
    let from = 0;
    for (const { count, prepared } of sizes) {
      for (const length = count * width; from + length <= values.length; from += length) {
        changes += Number(prepared.run(...shared, ...values.slice(from, from + length)).changes);
      }
    }
    return changes;
  }

  /** The rows that a query finds for all of `values`, which are those of its own rows, one after the other. */
  allForRows<T = Row>(statement: RowsStatement, values: readonly SqlValue[]): T[] {
    const { width, sizes } = this.#preparedForRows(statement);
    const found: T[] = [];
    let from = 0;
    for (const { count, prepared } of sizes) {
      for (const length = count * width; from + length <= values.length; from += length) {
        found.push(...(prepared.all(...values.slice(from, from + length)) as T[]));
      }
    }
    return found;
  }

  get<T = Row>(sql: string, ...params: SqlValue[]): T | undefined {
    return (this.#statement(sql).get(...params) as T | undefined) ?? undefined;
  }

  all<T = Row>(sql: string, ...params: SqlValue[]): T[] {
    return this.#statement(sql).all(...params) as T[];
  }

  close(): void {
    this.#statements.clear();
    this.#forRows.clear();
    this.#database.close();
  }

  #preparedForRows(statement: RowsStatement): PreparedForRows {
    let known = this.#forRows.get(statement);
    if (known === undefined) {
      const sizes = ROWS_AT_ONCE.map((count) => {
        const rows = Array(count).fill(statement.row).join(', ');
        return { count, prepared: this.#database.prepare(statement.text(rows)) };
      });
      known = { width: statement.row.match(OWN_VALUE)?.length ?? 0, sizes };
      this.#forRows.set(statement, known);
    }
    return known;
  }

  #statement(sql: string): DriverStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

export async function openDb(path: string): Promise<Db> {
  const driver = await loadDriver();
  return new Db(new driver.DatabaseSync(path));
}

export const SQLITE_BUSY = 5;
export const SQLITE_IOERR = 10;
export const SQLITE_FULL = 13;

/** SQLite's primary result code of a thrown error, or 0 when it is no error of SQLite's. */
export function sqliteCode(error: unknown): number {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : 0;
}
