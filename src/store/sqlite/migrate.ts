/** Numbered migrations, each in its own transaction; SQLite's user_version says how far the file is. */
import { readdirSync, readFileSync } from 'node:fs';
import { PosthornError } from '../../errors.ts';
import type { Db } from './driver.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);

export function migrate(db: Db, path: string): void {
  const files = readdirSync(MIGRATIONS)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  const current = db.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
  if (current > files.length) {
    throw new PosthornError(
      'store_too_new',
      `${path} was written by a newer Posthorn (schema ${current}; this version knows ${files.length}). Upgrade this installation, or use another file.`,
    );
  }
  for (const [index, file] of files.entries()) {
    if (index < current) continue;
    db.exec('BEGIN IMMEDIATE');
    db.exec(readFileSync(new URL(file, MIGRATIONS), 'utf8'));
    db.exec(`PRAGMA user_version = ${index + 1}`);
    db.exec('COMMIT');
  }
}
