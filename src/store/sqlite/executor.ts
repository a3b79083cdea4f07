/**
 * Executes batches of operations on one open database: the group commit. Whatever is asked for while a commit is under
 * way waits in the runner's queue and shares the next one.
 */
import { closeSync, existsSync, openSync } from 'node:fs';
import { describeError, isPosthornError, PosthornError } from '../../errors.ts';
import { type Db, openDb, SQLITE_FULL, SQLITE_IOERR, sqliteCode } from './driver.ts';
import { takeLock } from './lock.ts';
import { migrate } from './migrate.ts';
import { endFormerLeases } from './nodes.ts';
import { isWrite, type OperationName, operations } from './operations.ts';

export interface Request {
  readonly id: number;
  readonly name: OperationName;
  readonly input: unknown;
}

export type Reply =
  | { readonly id: number; readonly ok: true; readonly output: unknown }
  | { readonly id: number; readonly ok: false; readonly error: unknown };

const LAST_NODE = 'SELECT name, joined_at FROM nodes ORDER BY epoch DESC LIMIT 1';

// FULL: a commit is on disk before it is answered (NORMAL may lose the last commits on power loss).
// 16 MB of WAL between checkpoints keeps random page writes rare. 8 MB of page cache: a commit after which b-trees have moved
// pages looks at every page in the cache, and what is not in it comes from the operating system's for little.
const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -8192;
  PRAGMA busy_timeout = 5000;`;

export class Executor {
  readonly #db: Db;
  readonly #lock: Db | undefined;
  /** Set once the disk has failed: after a failed fsync nothing that is in the page cache can be trusted. */
  #broken: PosthornError | undefined;
  #closed = false;

  private constructor(db: Db, lock: Db | undefined) {
    this.#db = db;
    this.#lock = lock;
  }

  static async open(path: string): Promise<Executor> {
    const { db, lock } = await openAlone(path, endFormerLeases);
    return new Executor(db, lock);
  }

  /**
   * Answers in the order of the requests. `join` is asked before the commit for what has come meanwhile: it is added to the
   * requests, because one commit for both costs half of two. Once: a commit that went on to wait for more made all who are
   * served wait for each other, so that the event loop and this thread took turns instead of working side by side.
   */
  execute(requests: Request[], join: () => readonly Request[] = nobody): Reply[] {
    if (this.#broken !== undefined) return requests.map(({ id }) => ({ id, ok: false, error: this.#broken }));
    try {
      return this.#inOneTransaction(requests, join);
    } catch (error) {
      // One request spoils the transaction for all: each gets its own, so that only the culprit fails. A failed disk is
      // not tried again: the second fsync would say that all is well.
      if (requests.length > 1 && sqliteCode(error) !== SQLITE_IOERR)
        return requests.flatMap((request) => this.execute([request]));
      const explained = this.#explain(error);
      return requests.map(({ id }) => ({ id, ok: false, error: explained }));
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#db.close();
    this.#lock?.close();
  }

  #inOneTransaction(requests: Request[], join: () => readonly Request[]): Reply[] {
    const writes = requests.some((request) => isWrite(request.name));
    if (writes) this.#db.exec('BEGIN IMMEDIATE');
    try {
      const replies = requests.map((request) => this.#perform(request));
      const more = writes ? join() : [];
      requests.push(...more);
      for (const request of more) replies.push(this.#perform(request));
      if (writes) this.#db.exec('COMMIT');
      return replies;
    } catch (error) {
      if (writes) this.#rollback();
      throw error;
    }
  }

  #perform({ id, name, input }: Request): Reply {
    return { id, ok: true, output: operations[name](this.#db, input as never) };
  }

  #rollback(): void {
    try {
      this.#db.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself (disk full, I/O error).
    }
  }

  #explain(error: unknown): unknown {
    const code = sqliteCode(error);
    if (code === SQLITE_FULL) {
      return new PosthornError(
        'store_unavailable',
        'The disk is full: nothing was stored. Free some space and try again.',
        { nothingStored: true },
      );
    }
    if (code === SQLITE_IOERR) {
      this.#broken = new PosthornError(
        'store_unavailable',
        `The disk failed (${describeError(error)}): nothing more is taken until Posthorn is restarted on a sound disk.`,
      );
      return this.#broken;
    }
    return error;
  }
}

function nobody(): readonly Request[] {
  return [];
}

/** The database, up to date and nobody else's: `lock` proves it until it is closed. */
export async function openAlone(path: string, prepare?: (db: Db) => void): Promise<{ db: Db; lock: Db | undefined }> {
  const db = await openFile(path);
  let lock: Db | undefined;
  try {
    lock = path === ':memory:' ? undefined : await takeLock(path, () => describeHolder(db));
    db.exec(SETTINGS);
    migrate(db, path);
    // Not before: the indexes that a migration makes of a large file are sorted in files.
    db.exec('PRAGMA temp_store = MEMORY');
    prepare?.(db);
    return { db, lock };
  } catch (error) {
    lock?.close();
    db.close();
    throw isPosthornError(error) ? error : cannotOpen(path, error);
  }
}

async function openFile(path: string): Promise<Db> {
  try {
    // For its owner only: it holds customers' events and, without POSTHORN_SECRET_KEY, signing secrets. SQLite gives its
    // other files the same mode. An existing file is not touched: closing it again would drop this process's locks on it.
    if (path !== ':memory:' && !existsSync(path)) closeSync(openSync(path, 'wx', 0o600));
    return await openDb(path);
  } catch (cause) {
    throw cannotOpen(path, cause);
  }
}

function cannotOpen(path: string, cause: unknown): PosthornError {
  return new PosthornError(
    'store_unavailable',
    `Cannot open ${path}: ${describeError(cause)}. POSTHORN_STORE must name a SQLite file, or a new one, in a folder that exists and can be written.`,
    { cause },
  );
}

function describeHolder(db: Db): string {
  try {
    const node = db.get<{ name: string; joined_at: number }>(LAST_NODE);
    return node ? ` (${node.name}, since ${new Date(node.joined_at).toISOString()})` : '';
  } catch {
    return '';
  }
}
