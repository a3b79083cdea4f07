/** A schema that another store is being moved to is closed to nodes until the move is finished. */
import pg from 'pg';
import { PosthornError } from '../../errors.ts';

export async function hasOpenTransfer(client: pg.ClientBase, schema: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT 1 FROM ${pg.escapeIdentifier(schema)}.transfers WHERE finished_at IS NULL`,
  );
  return rowCount !== 0;
}

export function halfMoved(schema: string): PosthornError {
  return new PosthornError(
    'store_locked',
    `The PostgreSQL schema "${schema}" holds a migration from SQLite that is not finished. Run the same \`posthorn migrate --from sqlite:… --to postgres:…\` again: it goes on where it was. To give it up, DROP SCHEMA ${schema} CASCADE.`,
  );
}
