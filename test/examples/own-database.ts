/** A PostgreSQL database of its own: the examples' tables are where their users have theirs, in `public`. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';

export interface OwnDatabase extends AsyncDisposable {
  readonly url: string;
}

export async function createOwnDatabase(): Promise<OwnDatabase> {
  const server = process.env.POSTHORN_TEST_POSTGRES_URL;
  if (!server) throw new Error('POSTHORN_TEST_POSTGRES_URL names no PostgreSQL server: `npm test` sets it.');
  const name = `example_${randomBytes(6).toString('hex')}`;
  const onServer = async (statement: string) => {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await onServer(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}
