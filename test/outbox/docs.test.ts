/** Every program in docs/outbox.md is run here, as written: what commits is delivered, what rolls back never existed. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPosthorn, type Posthorn } from '../../src/index.ts';
import { createTestSchema, type TestSchema } from '../../src/testing/postgres-schema.ts';
import { type ScriptedReceiver, startReceiver } from '../../src/testing/scripted-receiver.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const text = readFileSync(join(root, 'docs/outbox.md'), 'utf8');
const programs = [...text.matchAll(/^## (.*)\n[^#]*?```ts\n([\s\S]*?)```/gm)].map(([, name = '', code = '']) => ({
  name,
  code,
}));

let folder: string;
let schema: TestSchema;
let pool: pg.Pool;
let posthorn: Posthorn;
let receiver: ScriptedReceiver;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-outbox-docs-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  schema = await createTestSchema();
  receiver = await startReceiver();
  const shop = `${schema.name}_shop`;
  pool = new pg.Pool({
    connectionString: new URL('?', schema.url).href.replace(/\?$/, ''),
    options: `-c search_path=${shop}`,
  });
  await pool.query(`CREATE SCHEMA ${shop}`);
  await pool.query('CREATE TABLE orders (id text PRIMARY KEY)');
  posthorn = await createPosthorn({ store: schema.url, logger: false, allowNetworks: ['127.0.0.0/8'] });
  const { record } = await posthorn.applications.create({ name: 'Shop', uid: 'shop' });
  await posthorn.endpoints.create(record.id, { url: receiver.url });
});

afterAll(async () => {
  await posthorn?.close(0);
  await receiver?.close();
  await pool?.query(`DROP SCHEMA ${schema.name}_shop CASCADE`);
  await pool?.end();
  await schema?.drop();
  rmSync(folder, { recursive: true, force: true });
});

type PlaceOrder = (posthorn: Posthorn, database: unknown, id: string) => Promise<void>;

async function load(name: string, code: string): Promise<PlaceOrder> {
  const { outputText } = transpileModule(code, {
    compilerOptions: { module: ModuleKind.ESNext, target: ScriptTarget.ES2023 },
  });
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, outputText);
  const module = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as { placeOrder: PlaceOrder };
  return module.placeOrder;
}

/** The part of Prisma's client that the program uses, over a real connection. */
const prisma = {
  async $transaction(work: (tx: object) => Promise<void>) {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await work({
        $queryRawUnsafe: async (sql: string, ...values: unknown[]) => (await client.query(sql, values)).rows,
        $executeRawUnsafe: async (sql: string, ...values: unknown[]) => (await client.query(sql, values)).rowCount,
      });
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  },
};

describe('BUD-08 docs/outbox.md', () => {
  it('has a program for each of four libraries', () => {
    expect(programs.map(({ name }) => name)).toEqual(['node-postgres', 'Drizzle', 'Kysely', 'Prisma']);
  });

  it.each(programs)('$name: commits with the order, and rolls back with it', async ({ name, code }) => {
    const placeOrder = await load(name, code);
    const database = name === 'Prisma' ? prisma : pool;
    const before = receiver.arrivals.length;
    await placeOrder(posthorn, database, name);
    await receiver.arrived(before + 1);
    expect(String(receiver.arrivals[before]?.body)).toBe(JSON.stringify({ id: name }));
    // The same order again breaks its primary key before anything is published; a missing application does after it.
    await expect(placeOrder(posthorn, database, name)).rejects.toThrow();
    const elsewhere = await load(`${name}-elsewhere`, code.replace("application: 'shop'", "application: 'nobody'"));
    await expect(elsewhere(posthorn, database, `${name} 2`)).rejects.toMatchObject({ code: 'not_found' });
    expect((await pool.query('SELECT id FROM orders WHERE id = $1', [`${name} 2`])).rows).toEqual([]);
    expect(await schema.query('SELECT 1 FROM outbox')).toEqual([]);
    expect(receiver.arrivals).toHaveLength(before + 1);
  });
});
