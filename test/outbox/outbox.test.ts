/** Publishing inside the caller's own transaction, from the caller's statement to the endpoint. */
import { drizzle } from 'drizzle-orm/node-postgres';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPosthorn, type Posthorn } from '../../src/index.ts';
import { createTestSchema, type TestSchema } from '../../src/testing/postgres-schema.ts';
import { type ScriptedReceiver, startReceiver } from '../../src/testing/scripted-receiver.ts';

let schema: TestSchema;
let pool: pg.Pool;
let posthorn: Posthorn;
let receiver: ScriptedReceiver;
let application: string;

beforeAll(async () => {
  schema = await createTestSchema();
  // The caller's own tables are elsewhere: nothing here may depend on its search path.
  pool = new pg.Pool({ connectionString: new URL('?', schema.url).href.replace(/\?$/, ''), max: 4 });
  await pool.query(`CREATE SCHEMA IF NOT EXISTS ${schema.name}_shop`);
  await pool.query(`CREATE TABLE ${schema.name}_shop.orders (id text PRIMARY KEY)`);
});

beforeEach(async () => {
  receiver = await startReceiver();
  posthorn = await open();
  application = (await posthorn.applications.create({ name: 'shop', uid: 'shop' })).record.id;
  await posthorn.endpoints.create(application, { url: receiver.url });
});

afterEach(async () => {
  await posthorn.applications.delete(application);
  await posthorn.close(0);
  await receiver.close();
});

afterAll(async () => {
  await pool.query(`DROP SCHEMA ${schema.name}_shop CASCADE`);
  await pool.end();
  await schema.drop();
});

function open(role = 'all'): Promise<Posthorn> {
  return createPosthorn({ store: schema.url, role, logger: false, allowNetworks: ['127.0.0.0/8'] });
}

const event = (id: string) => ({ application: 'shop', eventType: 'order.placed', payload: { order: id } });

async function inTransaction(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await work(client);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

const order = (client: Pick<pg.PoolClient, 'query'>, id: string) =>
  client.query(`INSERT INTO ${schema.name}_shop.orders VALUES ($1)`, [id]);

const idsArrived = () => receiver.arrivals.map(({ headers }) => headers['webhook-id']);

describe('BUD-08 a message published inside the caller’s transaction', () => {
  it('is delivered once that has committed, and not before', async () => {
    let id = '';
    await inTransaction(async (client) => {
      await order(client, 'committed');
      ({ id } = await posthorn.publish(event('committed'), { client }));
      // Somebody else's message is accepted, delivered and recorded meanwhile: this one is not there for anybody.
      await posthorn.publish(event('another'));
      await receiver.arrived(1);
      await expect(posthorn.messages.get('shop', id)).rejects.toMatchObject({ code: 'not_found' });
    });
    await receiver.arrived(2);
    expect(idsArrived()[1]).toBe(id);
    expect(await posthorn.messages.get('shop', id)).toMatchObject({ id, applicationId: application });
  });

  it('never existed when that rolled back', async () => {
    const failure = inTransaction(async (client) => {
      await order(client, 'rolled back');
      await posthorn.publish({ ...event('rolled back'), eventId: 'order-1' }, { client });
      throw new Error('the payment was refused');
    });
    await expect(failure).rejects.toThrow('the payment was refused');
    // Its event id is free again, and what comes after it is all that arrives.
    const { id } = await posthorn.publish({ ...event('after'), eventId: 'order-1' });
    await receiver.arrived(1);
    expect(idsArrived()).toEqual([id]);
    expect(await schema.query('SELECT * FROM outbox')).toEqual([]);
  });

  it('is delivered when the caller’s process has no engine any more: another node relays it', async () => {
    const other = await open();
    const client = await pool.connect();
    await client.query('BEGIN');
    const { id } = await posthorn.publish(event('orphan'), { client });
    await posthorn.close(0);
    await client.query('COMMIT');
    client.release();
    await receiver.arrived(1);
    expect(idsArrived()).toEqual([id]);
    await other.close(0);
    posthorn = await open();
  });

  it('is accepted by one node of several, once each', async () => {
    const others = await Promise.all([open(), open('api'), open('worker')]);
    const ids: string[] = [];
    for (let batch = 0; batch < 20; batch++) {
      await inTransaction(async (client) => {
        for (let n = 0; n < 10; n++) ids.push((await posthorn.publish(event(`${batch}-${n}`), { client })).id);
      });
    }
    await receiver.arrived(200);
    await Promise.all(others.map((node) => node.close()));
    expect(idsArrived()).toHaveLength(ids.length);
    expect(new Set(idsArrived())).toEqual(new Set(ids));
    const [count] = await schema.query<{ count: string }>('SELECT count(*) FROM messages WHERE application_id = $1', [
      application,
    ]);
    expect(count?.count).toBe('200');
  }, 60_000);

  it('keeps its event id to itself, in this transaction and against those that run beside it', async () => {
    await inTransaction(async (client) => {
      const first = await posthorn.publish({ ...event('a'), eventId: 'once' }, { client });
      await expect(posthorn.publish({ ...event('b'), eventId: 'once' }, { client })).rejects.toThrow(first.id);
      await order(client, 'the transaction goes on');
    });
    await receiver.arrived(1);
    await expect(posthorn.publish({ ...event('c'), eventId: 'once' })).rejects.toMatchObject({ code: 'conflict' });
    const [left, right] = [await pool.connect(), await pool.connect()];
    await left.query('BEGIN');
    await right.query('BEGIN');
    const winner = await posthorn.publish({ ...event('left'), eventId: 'race' }, { client: left });
    const loser = posthorn.publish({ ...event('right'), eventId: 'race' }, { client: right });
    loser.catch(() => {});
    await left.query('COMMIT');
    await expect(loser).rejects.toThrow(winner.id);
    await right.query('ROLLBACK');
    left.release();
    right.release();
    await receiver.arrived(2);
  });

  it('ALL-06 is refused with what to do: no application, no client, an idempotency key', async () => {
    await inTransaction(async (client) => {
      await expect(posthorn.publish({ ...event('x'), application: 'nobody' }, { client })).rejects.toMatchObject({
        code: 'not_found',
      });
      await expect(posthorn.publish({ ...event('x'), idempotencyKey: 'k' }, { client })).rejects.toThrow('eventId');
      // What was refused has not spoiled the caller's transaction.
      await order(client, 'still fine');
    });
    await expect(posthorn.publish(event('x'), { client: {} as never })).rejects.toThrow('query(text, values)');
    const wrong = { query: async () => [] as never };
    await expect(posthorn.publish(event('x'), { client: wrong })).rejects.toThrow('{ rows }');
  });
});

describe('BUD-08 with other libraries’ transactions', () => {
  it('Drizzle on one client', async () => {
    const client = await pool.connect();
    const db = drizzle({ client });
    await db.transaction(async (tx) => {
      await tx.execute(`INSERT INTO ${schema.name}_shop.orders VALUES ('drizzle')`);
      await posthorn.publish(event('drizzle'), { client });
    });
    const rolledBack = db.transaction(async (tx) => {
      await posthorn.publish(event('never'), { client });
      tx.rollback();
    });
    await expect(rolledBack).rejects.toThrow();
    client.release();
    await receiver.arrived(1);
    expect(String(receiver.arrivals[0]?.body)).toContain('drizzle');
  });

  it('Kysely', async () => {
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
    await db.transaction().execute(async (trx) => {
      const query = (text: string, values: unknown[]) => trx.executeQuery(CompiledQuery.raw(text, values));
      await trx.executeQuery(CompiledQuery.raw(`INSERT INTO ${schema.name}_shop.orders VALUES ('kysely')`));
      await posthorn.publish(event('kysely'), { client: { query } });
    });
    await receiver.arrived(1);
    expect(String(receiver.arrivals[0]?.body)).toContain('kysely');
  });
});
