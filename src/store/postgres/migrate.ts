/**
 * Numbered migrations, each in its own transaction; the table `migrations` says how far the schema is. An advisory lock
 * lets however many nodes start at once: one migrates, the others wait and find it done.
 */
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { PosthornError } from '../../errors.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);

export type SchemaState = 'missing' | 'old' | 'current' | 'newer';

export async function migrate(client: pg.ClientBase, schema: string): Promise<void> {
  const name = pg.escapeIdentifier(schema);
  const files = migrationFiles();
  if ((await versionOf(client, name)) === files.length) return;
  await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [`posthorn migrate ${schema}`]);
  try {
    // Not IF NOT EXISTS: that asks for the right to create schemas although there is nothing to create.
    const { rows } = await client.query<{ found: string | null }>('SELECT to_regnamespace($1) AS found', [name]);
    if (rows[0]?.found == null) await client.query(`CREATE SCHEMA ${name}`);
    await client.query(
      `CREATE TABLE IF NOT EXISTS ${name}.migrations (version integer PRIMARY KEY, file text NOT NULL)`,
    );
    const current = (await versionOf(client, name)) ?? 0;
    if (current > files.length) {
      throw new PosthornError(
        'store_too_new',
        `The PostgreSQL schema "${schema}" was written by a newer Posthorn (schema ${current}; this version knows ${files.length}). Upgrade this installation, or use another schema or database.`,
      );
    }
    for (const [index, file] of files.entries()) {
      if (index >= current) await apply(client, name, index + 1, file);
    }
  } finally {
    await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', [`posthorn migrate ${schema}`]);
  }
}

export async function stateOf(client: pg.ClientBase, schema: string): Promise<SchemaState> {
  const version = await versionOf(client, pg.escapeIdentifier(schema));
  if (version === undefined) return 'missing';
  const known = migrationFiles().length;
  if (version > known) return 'newer';
  return version === known ? 'current' : 'old';
}

function migrationFiles(): string[] {
  return readdirSync(MIGRATIONS)
    .filter((file) => file.endsWith('.sql'))
    .sort();
}

/** Undefined for a schema that is not there yet. */
async function versionOf(client: pg.ClientBase, name: string): Promise<number | undefined> {
  const { rows } = await client.query<{ found: string | null }>('SELECT to_regclass($1) AS found', [
    `${name}.migrations`,
  ]);
  if (rows[0]?.found == null) return undefined;
  const { rows: versions } = await client.query<{ version: number | null }>(
    `SELECT max(version) AS version FROM ${name}.migrations`,
  );
  return versions[0]?.version ?? 0;
}

async function apply(client: pg.ClientBase, name: string, version: number, file: string): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL search_path TO ${name}`);
    await client.query(readFileSync(new URL(file, MIGRATIONS), 'utf8'));
    await client.query('INSERT INTO migrations (version, file) VALUES ($1, $2)', [version, file]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
