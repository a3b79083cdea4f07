import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createIds } from '../../ids.ts';
import { createManualClock } from '../../testing/manual-clock.ts';
import { createTestSchema, type TestSchema } from '../../testing/postgres-schema.ts';
import { DELIVERED, Scene } from '../conformance/scene.ts';
import { clientConfig } from './client-config.ts';
import { Db } from './driver.ts';
import { openPostgresStore } from './index.ts';
import { maintainPartitions } from './maintain.ts';

const WEEK_MS = 7 * 24 * 3_600_000;
const NOW = Date.UTC(2026, 5, 1);

let schema: TestSchema;
let db: Db;
let scene: Scene;

beforeEach(async () => {
  schema = await createTestSchema();
  const clock = createManualClock(NOW);
  const store = await openPostgresStore({ url: schema.url, clock });
  scene = await Scene.begin({ store, close: () => store.close() });
  const { client, schema: name } = clientConfig({ url: schema.url });
  db = new Db({ client, schema: name, channel: 'test', teller: 'test', clock, poolSize: 2, connectTimeoutMs: 5000 });
});

afterEach(async () => {
  await db.close();
  await scene.store.close();
  await schema.drop();
});

async function partitionOf(messageId: string): Promise<string | undefined> {
  const rows = await schema.query<{ name: string }>(
    'SELECT tableoid::regclass::text AS name FROM messages WHERE id = $1',
    [messageId],
  );
  return rows[0]?.name;
}

async function publishAt(ms: number, endpointId: string) {
  const id = createIds(() => ms).next('msg');
  const [delivery = ''] = await scene.publish({ to: [endpointId], now: ms, message: { id, createdAt: ms } });
  return { id, delivery };
}

describe('maintain', () => {
  it('a message and its attempts lie in the partition of its week, also next week; a far-off clock loses nothing', async () => {
    const to = await scene.endpoint();
    const week = Math.floor(NOW / WEEK_MS);
    expect(await partitionOf((await publishAt(NOW, to)).id)).toBe(`messages_w${week}`);
    expect(await partitionOf((await publishAt(NOW + WEEK_MS, to)).id)).toBe(`messages_w${week + 1}`);
    expect(await partitionOf((await publishAt(NOW + 52 * WEEK_MS, to)).id)).toBe('messages_default');
  });

  it('makes what is missing, once, however many nodes ask', async () => {
    const later = NOW + 3 * WEEK_MS;
    const rounds = await Promise.all([1, 2, 3].map(() => maintainPartitions(db, { now: later })));
    await maintainPartitions(db, { now: later });
    const names = await schema.query(
      "SELECT 1 FROM pg_class WHERE relname ~ '^messages_w[0-9]+$' AND relnamespace = $1::regnamespace",
      [schema.name],
    );
    expect(names).toHaveLength(6);
    expect(rounds.flatMap(({ created }) => created).length).toBeLessThanOrEqual(3);
  });

  it('drops a week past retention with all that is finished in it, and keeps one in which something is open', async () => {
    const to = await scene.endpoint();
    const done = await publishAt(NOW, to);
    await scene.record(await scene.claimOne(done.delivery, NOW), DELIVERED, { startedAt: NOW });
    const open = await publishAt(NOW + WEEK_MS, to);
    const { dropped } = await maintainPartitions(db, { now: NOW + 10 * WEEK_MS, retentionMs: WEEK_MS });
    expect(dropped).toContain(`messages_w${Math.floor(NOW / WEEK_MS)}`);
    const messages = async (id: string) => scene.store.getMessage({ applicationId: scene.applicationId, id });
    expect(await messages(done.id)).toBeUndefined();
    expect(await scene.store.getDelivery({ id: done.delivery })).toBeUndefined();
    expect(await messages(open.id)).toBeDefined();
    expect(await scene.state(open.delivery)).toBe('pending');
  });
});
