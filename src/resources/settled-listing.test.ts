import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { floorId } from '../ids.ts';
import type { Attempt } from '../model/index.ts';
import { createPosthorn } from '../posthorn.ts';
import { createTestSchema } from '../testing/postgres-schema.ts';
import { startReceiver } from '../testing/scripted-receiver.ts';
import { settledListing } from './settled-listing.ts';

const NOW = 1_800_000_000_000;
const at = (agoMs: number) => ({ id: floorId('atmpt', NOW - agoMs).padEnd(33, 'x') }) as Attempt;

it('leads on from a few seconds back where the page reaches the newest, and from its end elsewhere', () => {
  const [old, young] = [at(60_000), at(10)];
  const back = floorId('atmpt', NOW - 5000).padEnd(33, '0');
  const towards = (items: Attempt[], page: object, done = true) =>
    settledListing({ items, done }, { limit: 2, order: 'descending', ...page }, NOW);
  const cursor = (direction: 'forward' | 'backward') => ({ cursor: { key: old.id, direction } });

  expect(towards([young, old], {})).toMatchObject({ prevIterator: `-${back}`, iterator: old.id });
  expect(towards([young, old], {}, false)).toMatchObject({ prevIterator: `-${back}`, iterator: old.id });
  expect(towards([young, old], cursor('backward'))).toMatchObject({ prevIterator: `-${back}` });
  // More of them follow: to begin again would be to stay here for ever.
  expect(towards([young, old], cursor('backward'), false)).toMatchObject({ prevIterator: `-${young.id}` });
  expect(towards([young, old], cursor('forward'))).toMatchObject({ prevIterator: `-${young.id}` });
  expect(towards([old], {})).toMatchObject({ prevIterator: `-${old.id}`, iterator: old.id });
  expect(towards([old, young], { order: 'ascending' })).toMatchObject({ iterator: back, prevIterator: `-${old.id}` });
  expect(towards([old, young], { order: 'ascending' }, false)).toMatchObject({ iterator: young.id });
  expect(towards([], {})).toEqual({ data: [], iterator: null, done: true });
});

it.each([100, 1200])(
  'who follows the list misses none, though the first was answered after the second (%d ms)',
  async (ms) => {
    const held: ServerResponse[] = [];
    const receiver = await startReceiver((response) => void held.push(response), 200);
    const schema = await createTestSchema();
    const posthorn = await createPosthorn({
      store: schema.url,
      postgresPool: 2,
      allowNetworks: ['127.0.0.0/8'],
      logger: false,
    });
    try {
      await posthorn.applications.create({ name: 'one', uid: 'one' });
      const { id: endpoint } = await posthorn.endpoints.create('one', { url: receiver.url });
      const publish = async () => (await posthorn.publish({ application: 'one', eventType: 'a.b', payload: {} })).id;
      const list = (query: object) => posthorn.attempts.listByEndpoint('one', endpoint, query);
      const slow = await publish();
      await receiver.arrived(1);
      const quick = await publish();
      await expect.poll(async () => (await list({})).data.length).toBe(1);
      const [down, up] = [await list({}), await list({ order: 'ascending' })];
      await sleep(ms);
      held[0]?.writeHead(200).end();
      await expect.poll(async () => (await list({})).data.length).toBe(2);
      for (const next of [
        await list({ iterator: down.prevIterator }),
        await list({ order: 'ascending', iterator: up.iterator }),
      ]) {
        expect(next.data.map(({ messageId }) => messageId).toSorted()).toEqual([slow, quick].toSorted());
      }
    } finally {
      await posthorn.close(0);
      await receiver.close();
      await schema.drop();
    }
  },
);
