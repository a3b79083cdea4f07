/** What the commonest life of a delivery leaves in the database: one row, and no other (src/store/first-success.ts). */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type * as library from '../src/posthorn.ts';
import { openDb } from '../src/store/sqlite/driver.ts';
import { createTestSchema } from '../src/testing/postgres-schema.ts';
import { type ScriptedReceiver, startReceiver } from '../src/testing/scripted-receiver.ts';

const KEPT = 'SELECT message_id AS id FROM deliveries WHERE success_url IS NOT NULL ORDER BY id';
const ROWS = 'SELECT message_id AS id FROM attempts ORDER BY id';
const MESSAGES = 5;
/** With the store in its thread, which only the built library has. */
const built = new URL('../dist/posthorn.js', import.meta.url).href;

let receiver: ScriptedReceiver;

beforeEach(async () => {
  receiver = await startReceiver();
});

afterEach(() => receiver.close());

/** Delivered one after the other, each at once, but for the last, which is refused. */
async function deliver(store: string): Promise<{ delivered: string[]; refused: string; listed: string[] }> {
  const { createPosthorn } = (await import(built)) as typeof library;
  const posthorn = await createPosthorn({ store, allowNetworks: ['127.0.0.0/8'], logger: false });
  try {
    await posthorn.applications.create({ name: 'one', uid: 'one' });
    const { id: endpoint } = await posthorn.endpoints.create('one', { url: receiver.url });
    const listed = async () =>
      (await posthorn.attempts.listByEndpoint('one', endpoint, { limit: 50, order: 'ascending' })).data;
    const published: string[] = [];
    for (let n = 0; n <= MESSAGES; n++) {
      if (n === MESSAGES) receiver.answer(400);
      const { id } = await posthorn.publish({ application: 'one', eventType: 'a.b', payload: { n } });
      published.push(id);
      await expect.poll(async () => (await listed()).length).toBe(n + 1);
    }
    const attempts = await listed();
    expect(attempts.map(({ status }) => status)).toEqual([...Array(MESSAGES).fill(200), 400]);
    return {
      delivered: published.slice(0, -1),
      refused: published.at(-1) ?? '',
      listed: attempts.map(({ messageId }) => messageId),
    };
  } finally {
    await posthorn.close(0);
  }
}

it('on SQLite, a delivery that goes well at once keeps its attempt in its own row; one that does not has rows', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-first-success-'));
  try {
    const { delivered, refused, listed } = await deliver(`sqlite:${join(folder, 'posthorn.db')}`);
    expect(listed).toEqual([...delivered, refused]);
    const db = await openDb(join(folder, 'posthorn.db'));
    const idsOf = (text: string) => db.all<{ id: string }>(text).map(({ id }) => id);
    expect(idsOf(KEPT)).toEqual(delivered);
    expect(idsOf(ROWS)).toEqual([refused]);
    db.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('on PostgreSQL too', async () => {
  const schema = await createTestSchema();
  try {
    const { delivered, refused, listed } = await deliver(schema.url);
    expect(listed).toEqual([...delivered, refused]);
    const idsOf = async (text: string) => (await schema.query<{ id: string }>(text)).map(({ id }) => id);
    expect(await idsOf(KEPT)).toEqual(delivered);
    expect(await idsOf(ROWS)).toEqual([refused]);
  } finally {
    await schema.drop();
  }
});
