import { expect, it } from 'vitest';
import { Batcher, ENOUGH, MANY, REST_TURNS } from './batcher.ts';

const sizes = (limits: { maxItems: number; maxBytes?: number }) => {
  const batches: number[][] = [];
  const batcher = new Batcher({ ...limits, bytesOf: (bytes: number) => bytes }, async (items) => {
    batches.push([...items]);
    return items;
  });
  return { batcher, batches };
};

it('runs what waits in batches of so many items and so many bytes at most, in order', async () => {
  const { batcher, batches } = sizes({ maxItems: 3, maxBytes: 10 });
  const items = [1, 2, 3, 4, 6, 1, 9];
  expect(await Promise.all(items.map((item) => batcher.add(item)))).toEqual(items);
  expect(batches).toEqual([
    [1, 2, 3],
    [4, 6],
    [1, 9],
  ]);
});

it('runs an item that is larger than a batch may be by itself', async () => {
  const { batcher, batches } = sizes({ maxItems: 3, maxBytes: 10 });
  await Promise.all([50, 1, 40].map((item) => batcher.add(item)));
  expect(batches).toEqual([[50], [1], [40]]);
});

it('has no more runs under way than it may, and gathers what comes meanwhile', async () => {
  const begun: { items: readonly number[]; end: () => void }[] = [];
  const batcher = new Batcher<number, number>({ maxItems: 10, atOnce: 2 }, (items) => {
    return new Promise((resolve) => begun.push({ items, end: () => resolve(items) }));
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const added = [];
  for (const item of [1, 2, 3, 4]) {
    added.push(batcher.add(item));
    await turn();
  }
  expect(begun.map(({ items }) => items)).toEqual([[1], [2]]);
  begun[0]?.end();
  await added[0];
  expect(begun.map(({ items }) => items)).toEqual([[1], [2], [3, 4]]);
  let isIdle = false;
  const idle = batcher.idle().then(() => {
    isIdle = true;
  });
  begun[2]?.end();
  expect(await Promise.all(added.slice(2))).toEqual([3, 4]);
  expect(isIdle).toBe(false);
  begun[1]?.end();
  await idle;
});

it('lets turns of the event loop pass after a run of many, and none after a run of few', async () => {
  const runs: number[] = [];
  const batcher = new Batcher<number, number>({ maxItems: 100 }, async (items) => {
    runs.push(items.length);
    return items;
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  await Promise.all(Array.from({ length: MANY }, (_, n) => batcher.add(n)));
  for (let n = 0; n < REST_TURNS; n++) {
    void batcher.add(n);
    expect(runs).toEqual([MANY]);
    await turn();
  }
  await batcher.idle();
  expect(runs).toEqual([MANY, REST_TURNS]);
  await batcher.add(1);
  void batcher.add(2);
  await turn();
  expect(runs).toEqual([MANY, REST_TURNS, 1, 1]);
});

it('goes on at once with what did not fit into a run of many', async () => {
  const { batcher, batches } = sizes({ maxItems: MANY });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (let n = 0; n < MANY + 1; n++) void batcher.add(1);
  await turn();
  await turn();
  expect(batches.map(({ length }) => length)).toEqual([MANY, 1]);
});

it('does not let so many wait for that', async () => {
  const runs: number[] = [];
  const batcher = new Batcher<number, number>({ maxItems: 1000 }, async (items) => {
    runs.push(items.length);
    return items;
  });
  await Promise.all(Array.from({ length: MANY }, (_, n) => batcher.add(n)));
  for (let n = 0; n < ENOUGH; n++) void batcher.add(n);
  expect(runs).toEqual([MANY, ENOUGH]);
});

it('begins in the middle of a turn as soon as enough wait, each run with its share', async () => {
  const runs: number[] = [];
  const batcher = new Batcher<number, number>({ maxItems: 1000, atOnce: 4 }, async (items) => {
    runs.push(items.length);
    return items;
  });
  const added = Array.from({ length: ENOUGH + MANY }, (_, n) => batcher.add(n));
  expect(runs).toEqual(Array(4).fill(ENOUGH / 4));
  expect(await Promise.all(added)).toHaveLength(ENOUGH + MANY);
  expect(runs).toEqual([...Array(4).fill(ENOUGH / 4), MANY]);
});

it('lets the turns pass however many wait while there is other work, and begins when there is none or they are over', async () => {
  const runs: number[] = [];
  let isBusy = true;
  const limits = { maxItems: 1000, hasOtherWork: () => isBusy };
  const batcher = new Batcher<number, number>(limits, async (items) => {
    runs.push(items.length);
    return items;
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const addEnough = () => Array.from({ length: ENOUGH }, (_, n) => batcher.add(n));
  // Nothing rests before the first.
  await Promise.all(addEnough());
  void addEnough();
  for (let n = 0; n < REST_TURNS; n++) {
    expect(runs).toEqual([ENOUGH]);
    await turn();
  }
  await batcher.idle();
  expect(runs).toEqual([ENOUGH, ENOUGH]);
  void addEnough();
  await turn();
  expect(runs).toEqual([ENOUGH, ENOUGH]);
  isBusy = false;
  await turn();
  expect(runs).toEqual([ENOUGH, ENOUGH, ENOUGH]);
});
