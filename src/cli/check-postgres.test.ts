import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { openPostgresStore } from '../store/postgres/index.ts';
import { createTestSchema, type TestSchema } from '../testing/postgres-schema.ts';
import { checkPostgres } from './check-postgres.ts';
import type { Finding } from './findings.ts';

let schema: TestSchema;
beforeEach(async () => {
  schema = await createTestSchema();
});
afterEach(() => schema.drop());

async function findings(url = schema.url, aheadMs = 0): Promise<string[]> {
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const found: Finding[] = [];
  for await (const finding of checkPostgres(url, clock)) found.push(finding);
  return found.map(({ kind, what, found: text }) => `${kind} ${what}: ${text}`);
}

const tables = () => schema.query('SELECT 1 FROM pg_tables WHERE schemaname = $1', [schema.name]);

describe('posthorn doctor, on PostgreSQL', () => {
  it('makes nothing in a database that has no schema yet', async () => {
    expect(await findings()).toEqual([
      expect.stringMatching(/^good store: .*will be made at the first start$/),
      "good database clock: as this machine's",
    ]);
    expect(await schema.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema.name])).toEqual([]);
  });

  it('leaves an older schema as it is: the nodes that run may need it so', async () => {
    await schema.query(`CREATE SCHEMA ${schema.name}`);
    await schema.query('CREATE TABLE migrations (version integer PRIMARY KEY, file text NOT NULL)');
    expect((await findings())[0]).toMatch(/^good store: .*brought up to date at the next start$/);
    expect(await tables()).toHaveLength(1);
  });

  it('says what is in a store, and refuses one of a newer version', async () => {
    await (await openPostgresStore({ url: schema.url, poolSize: 1 })).close();
    expect((await findings())[0]).toMatch(/schema up to date; 0 waiting, 0 held, 0 dead letters\)$/);
    await schema.query("INSERT INTO migrations (version, file) VALUES (9999, 'from the future')");
    expect((await findings())[0]).toMatch(/^bad store: .*written by a newer Posthorn$/);
  });

  it.each([
    [60_000, /^bad database clock: 1 min.* behind this machine's$/],
    [-60_000, /^bad database clock: 1 min.* ahead of this machine's$/],
  ])("compares the machine's clock with the database's: %d ms", async (aheadMs, says) => {
    expect((await findings(schema.url, aheadMs))[1]).toMatch(says);
  });

  it('says why a server cannot be asked, without the password', async () => {
    const url = new URL(schema.url);
    Object.assign(url, { port: '1', password: 'hunter2' });
    const [finding, ...more] = await findings(url.href);
    expect(finding).toMatch(/^bad store: .*does not open$/);
    expect(finding).not.toContain('hunter2');
    expect(more).toEqual([]);
  });
});
