/**
 * One process writes to a database file, proven by a lock of the operating system's that dies with its holder: an
 * exclusive transaction on a file beside the database, never committed. A kill -9 frees it at once.
 */
import { realpath } from 'node:fs/promises';
import { PosthornError } from '../../errors.ts';
import { type Db, openDb, SQLITE_BUSY, sqliteCode } from './driver.ts';

export async function takeLock(path: string, describeHolder: () => string): Promise<Db> {
  // By the file itself: under another spelling or through a link it would have a second lock, and two writers.
  const lock = await openDb(`${await realpath(path)}.lock`);
  try {
    // Without this a rollback journal would be left beside the lock file.
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (cause) {
    lock.close();
    if (sqliteCode(cause) !== SQLITE_BUSY) throw cause;
    throw new PosthornError(
      'store_locked',
      `${path} is in use by another Posthorn${describeHolder()}. Stop that process first, or give this one a file of its own (POSTHORN_STORE=sqlite:./other.db).`,
      { cause },
    );
  }
}
