import { describe, expect, it } from 'vitest';
import type { PageInput } from '../store.ts';
import type { Use } from './harness.ts';
import type { Scene } from './scene.ts';

/** A list of at least five items: its keys in rising order, and one page of it as keys. */
export interface PagedList {
  readonly keys: readonly string[];
  readonly page: (input: PageInput) => Promise<{ keys: readonly string[]; done: boolean }>;
}

/** Every list pages the same way. */
export function exercisePaging(what: string, use: Use, fill: (scene: Scene) => Promise<PagedList>): void {
  describe(`pages of ${what}`, () => {
    it.each(['ascending', 'descending'] as const)(
      '%s: forward to the end and backward to the start, each item once',
      async (order) => {
        const list = await fill(use());
        const expected = order === 'ascending' ? [...list.keys] : [...list.keys].reverse();
        const forward = await walk(list, order, 'forward', undefined);
        expect(forward.flat()).toEqual(expected);
        expect(forward.map((page) => page.length)).toEqual([2, 2, 1]);
        const backward = await walk(list, order, 'backward', expected.at(-1));
        expect(backward.reverse().flat()).toEqual(expected.slice(0, -1));
      },
    );

    it('says done exactly when nothing is left, also when the last page is full', async () => {
      const { keys, page } = await fill(use());
      const order = 'ascending';
      expect((await page({ limit: keys.length, order })).done).toBe(true);
      expect((await page({ limit: keys.length - 1, order })).done).toBe(false);
      const beforeLast = keys.at(-2) ?? '';
      expect(await page({ limit: 1, order, cursor: { key: beforeLast, direction: 'forward' } })).toEqual({
        keys: keys.slice(-1),
        done: true,
      });
      const last = keys.at(-1) ?? '';
      expect(await page({ limit: 1, order, cursor: { key: last, direction: 'forward' } })).toEqual({
        keys: [],
        done: true,
      });
    });
  });
}

async function walk(
  list: PagedList,
  order: PageInput['order'],
  direction: 'forward' | 'backward',
  from: string | undefined,
): Promise<string[][]> {
  const pages: string[][] = [];
  let key = from;
  for (;;) {
    const page = await list.page({ limit: 2, order, ...(key === undefined ? {} : { cursor: { key, direction } }) });
    pages.push([...page.keys]);
    if (page.done) return pages;
    key = direction === 'forward' ? page.keys.at(-1) : page.keys[0];
  }
}
