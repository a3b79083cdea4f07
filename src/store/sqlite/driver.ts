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

const ROWS_PER_INSERT = 16;

/** A database with its prepared statements kept: SQL text is the key, so each statement is compiled once. */
export class Db {
  readonly #database: DriverDatabase;
  readonly #statements = new Map<string, DriverStatement>();
  readonly #inserters = { one: new Map<string, DriverStatement>(), many: new Map<string, DriverStatement>() };

  constructor(database: DriverDatabase) {
    this.#database = database;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  run(sql: string, ...params: SqlValue[]): number {
    return Number(this.#statement(sql).run(...params).changes);
  }

  /** `into` is `table (columns)`. Many rows a statement: a call of the driver costs as much as a row of it. */
  insert(into: string, rows: readonly (readonly SqlValue[])[]): void {
    for (let from = 0; from < rows.length; ) {
      const count = rows.length - from >= ROWS_PER_INSERT ? ROWS_PER_INSERT : 1;
      const params = rows.slice(from, from + count).flat();
      this.#inserter(into, count, params.length / count).run(...params);
      from += count;
    }
  }

  get<T = Row>(sql: string, ...params: SqlValue[]): T | undefined {
    return (this.#statement(sql).get(...params) as T | undefined) ?? undefined;
  }

  all<T = Row>(sql: string, ...params: SqlValue[]): T[] {
    return this.#statement(sql).all(...params) as T[];
  }

  close(): void {
    this.#statements.clear();
    this.#inserters.one.clear();
    this.#inserters.many.clear();
    this.#database.close();
  }

  #inserter(into: string, rows: number, columns: number): DriverStatement {
    const known = rows === 1 ? this.#inserters.one : this.#inserters.many;
    let statement = known.get(into);
    if (statement === undefined) {
      const row = `(${Array(columns).fill('?').join(', ')})`;
      statement = this.#database.prepare(`INSERT INTO ${into} VALUES ${Array(rows).fill(row).join(', ')}`);
      known.set(into, statement);
    }
    return statement;
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
