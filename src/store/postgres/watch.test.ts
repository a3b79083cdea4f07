/** News between two stores on one schema, as between two nodes. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestSchema, type TestSchema } from '../../testing/postgres-schema.ts';
import { Scene, T0 } from '../conformance/scene.ts';
import type { News, Store } from '../store.ts';
import { openPostgresStore } from './index.ts';

let schema: TestSchema;
let scene: Scene;
let other: Store;
let heard: News[];
let own: News[];

/** Every watch begins with "anything may have happened". */
const BEGINNING: News[] = [{ kind: 'changed' }, { kind: 'work', unqueued: true }];

async function hears(list: News[], expected: readonly News[]): Promise<void> {
  await vi.waitFor(() => expect(list).toEqual(expected), { timeout: 10_000 });
}

beforeEach(async () => {
  schema = await createTestSchema();
  const store = await openPostgresStore({ url: schema.url });
  other = await openPostgresStore({ url: schema.url });
  scene = await Scene.begin({ store, close: () => store.close() });
  heard = [];
  own = [];
  other.watch((news) => heard.push(news));
  store.watch((news) => own.push(news));
  await hears(heard, BEGINNING);
  await hears(own, BEGINNING);
  heard.length = 0;
  own.length = 0;
});

afterEach(async () => {
  await Promise.all([scene.store.close(), other.close()]);
  await schema.drop();
});

describe('watch', () => {
  it('tells other nodes of due work and of changed endpoints, and not the one who did it', async () => {
    const to = await scene.endpoint();
    await scene.publish({ to: [to] });
    await scene.store.setStatus({ endpointId: to, status: 'paused', reason: 'by hand', now: 1 });
    const changed = { kind: 'changed', applicationId: scene.applicationId } as const;
    await hears(heard, [changed, { kind: 'work' }, changed]);
    expect(own).toEqual([]);
  });

  it('says nothing of a lane that is known to be due already, nor of what went straight to a sender', async () => {
    const [busy, idle] = [await scene.endpoint(), await scene.endpoint()];
    await scene.publish({ to: [busy] });
    await scene.publish({ to: [busy] });
    await scene.publish({ to: [idle], state: 'leased' });
    await scene.store.insert({
      kind: 'policy',
      record: { id: 'pol_1', name: 'mark', policy: {}, createdAt: 1, updatedAt: 1 } as never,
    });
    await vi.waitFor(() => expect(heard.at(-1)).toEqual({ kind: 'changed' }));
    expect(heard.filter(({ kind }) => kind === 'work')).toHaveLength(1);
  });

  it('tells in any case what a person moved: no queue knows of it', async () => {
    const to = await scene.endpoint();
    const id = await scene.deadLetter(to);
    await scene.publish({ to: [to] });
    await vi.waitFor(() => expect(heard.filter(({ kind }) => kind === 'work')).toHaveLength(2));
    heard.length = 0;
    await scene.store.redeliver({ now: T0, select: { ids: [id] }, from: ['dead'] });
    await hears(heard, [{ kind: 'work', unqueued: true }]);
  });

  it('after its connection broke it comes back, and says that anything may have happened', async () => {
    await schema.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN \"posthorn_' || $1 || '\"'",
      [schema.name],
    );
    await hears(heard, BEGINNING);
    heard.length = 0;
    await scene.publish({ to: [await scene.endpoint()] });
    await hears(heard, [{ kind: 'changed', applicationId: scene.applicationId }, { kind: 'work' }]);
  });
});
