import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from './testing/test-api.ts';

interface Listed {
  readonly path: string;
  readonly create: (api: TestApi, index: number) => Promise<unknown>;
  readonly key: 'id' | 'name';
  readonly order: 'ascending' | 'descending';
  readonly ordered: boolean;
}

const post = async (api: TestApi, path: string, body: object) =>
  expect(await api.call('POST', path, body)).toMatchObject({ status: 201 });
const two = (index: number) => String(index).padStart(3, '0');

const LISTS: readonly Listed[] = [
  {
    path: 'app',
    create: (api, i) => post(api, 'app', { name: `a${i}` }),
    key: 'id',
    order: 'ascending',
    ordered: true,
  },
  {
    path: 'app/listed/endpoint',
    create: async (api, i) => {
      if (i === 0) await api.call('POST', 'app', { name: 'listed', uid: 'listed' });
      await post(api, 'app/listed/endpoint', { url: `https://example.com/${i}` });
    },
    key: 'id',
    order: 'descending',
    ordered: true,
  },
  {
    path: 'event-type',
    create: (api, i) => post(api, 'event-type', { name: `type.${two(i)}`, description: '' }),
    key: 'name',
    order: 'ascending',
    ordered: false,
  },
  {
    path: 'policy',
    // Four beside the six presets, before, between and after them.
    create: async (api, i) => {
      const name = ['a-first', 'n-middle', 'q-middle', 'z-last'][i];
      if (name !== undefined) await post(api, 'policy', { name, policy: {} });
    },
    key: 'name',
    order: 'ascending',
    ordered: false,
  },
];

describe.each(LISTS)('the list at $path', ({ path, create, key, order, ordered }) => {
  let api: TestApi;
  let keys: string[];
  const list = async (query: string) => (await api.call('GET', `${path}?${query}`)).body;
  const keysOf = (page: { data: Record<string, string>[] }) => page.data.map((item) => item[key]);

  beforeAll(async () => {
    api = await createTestApi();
    for (let index = 0; index < 10; index++) await create(api, index);
    keys = keysOf(await list('limit=50')) as string[];
  });
  afterAll(() => api[Symbol.asyncDispose]());

  it('has everything, in its order', () => {
    expect(keys).toHaveLength(10);
    const rising = keys.toSorted((a, b) => (a < b ? -1 : 1));
    expect(keys).toEqual(order === 'ascending' ? rising : rising.reverse());
  });

  it('cuts pages at the limit and says whether they are the last', async () => {
    expect(await list('limit=1')).toMatchObject({ iterator: keys[0], prevIterator: `-${keys[0]}`, done: false });
    expect(keysOf(await list('limit=6'))).toEqual(keys.slice(0, 6));
    expect(await list('limit=10')).toMatchObject({ done: true, iterator: keys[9] });
    expect(await list('limit=250')).toMatchObject({ done: true });
  });

  it('pages forward to the end and back to the start without a gap or a repetition', async () => {
    const first = await list('limit=6');
    const second = await list(`limit=6&iterator=${first.iterator}`);
    expect(second.done).toBe(true);
    expect([...keysOf(first), ...keysOf(second)]).toEqual(keys);
    const back = await list(`limit=4&iterator=${second.prevIterator}`);
    expect(keysOf(back)).toEqual(keys.slice(2, 6));
    expect(back.done).toBe(false);
    const start = await list(`limit=4&iterator=${back.prevIterator}`);
    expect(keysOf(start)).toEqual(keys.slice(0, 2));
    expect(start.done).toBe(true);
    const nothing = await list(`iterator=${second.iterator}`);
    expect(nothing).toEqual({ data: [], iterator: null, done: true });
  });

  it('refuses a limit over 250 or under 1', async () => {
    for (const limit of [251, 300, 0, -1, 'many']) {
      const { status, body } = await api.call('GET', `${path}?limit=${limit}`);
      expect([status, body.detail[0].loc]).toEqual([422, ['query', 'limit']]);
    }
  });

  const byId = key === 'id' ? it : undefined;
  byId?.('refuses an iterator that is not of this list', async () => {
    for (const iterator of ['bad', '-bad', 'msg_2b5H', `tok_${'0'.repeat(27)}`, 'app_%00']) {
      const { status, body } = await api.call('GET', `${path}?iterator=${iterator}`);
      expect([status, body.detail[0].loc]).toEqual([422, ['query', 'iterator']]);
    }
  });

  const byOrder = ordered ? it : undefined;
  byOrder?.('goes the other way round when asked', async () => {
    const opposite = order === 'ascending' ? 'descending' : 'ascending';
    expect(keysOf(await list(`order=${opposite}`))).toEqual(keys.toReversed());
    expect((await api.call('GET', `${path}?order=sideways`)).status).toBe(422);
  });
});

describe('archived event types', () => {
  it('leave no holes in pages, in either direction', async () => {
    await using api = await createTestApi();
    for (let index = 0; index < 12; index++) {
      await post(api, 'event-type', { name: `t${two(index)}`, description: '', archived: index % 3 !== 0 });
    }
    const { body: first } = await api.call('GET', 'event-type?limit=2');
    expect(first).toMatchObject({ data: [{ name: 't000' }, { name: 't003' }], done: false });
    const { body: second } = await api.call('GET', `event-type?limit=2&iterator=${first.iterator}`);
    expect(second).toMatchObject({ data: [{ name: 't006' }, { name: 't009' }], done: true });
    const { body: back } = await api.call('GET', `event-type?limit=1&iterator=${second.prevIterator}`);
    expect(back).toMatchObject({ data: [{ name: 't003' }], done: false });
    expect((await api.call('GET', 'event-type?include_archived=true')).body.data).toHaveLength(12);
  });
});
