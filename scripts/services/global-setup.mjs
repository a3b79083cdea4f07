// @ts-check
// What vitest does before the first test file and after the last, in `npm test` and in `npx vitest` by hand alike.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const PROGRAM = fileURLToPath(new URL('../services.mjs', import.meta.url));

/** The addresses are in the environment of every test file; services.mjs ends itself when this process is gone. */
export default async function setup() {
  const lentServer = process.env.POSTHORN_TEST_POSTGRES_URL;
  const run = randomBytes(4).toString('hex');
  const services = fork(PROGRAM);
  const gone = once(services, 'exit');
  const [addresses] = await Promise.race([
    once(services, 'message'),
    gone.then(() => {
      throw new Error('scripts/services.mjs ended before it said where its servers are.');
    }),
  ]);
  Object.assign(process.env, addresses, { POSTHORN_TEST_RUN: run });
  return async () => {
    if (lentServer !== undefined) await dropSchemas(lentServer, `test_${run}_`);
    services.disconnect();
    await gone;
  };
}

/**
 * Those that the tests of this run passed on to each other (src/testing/postgres-schema.ts). Our own server goes as a whole.
 *
 * @param {string} server
 * @param {string} prefix
 */
async function dropSchemas(server, prefix) {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  const { rows } = await client.query('SELECT nspname AS name FROM pg_namespace WHERE starts_with(nspname, $1)', [
    prefix,
  ]);
  for (const { name } of rows) await client.query(`DROP SCHEMA ${name} CASCADE`);
  await client.end();
}
