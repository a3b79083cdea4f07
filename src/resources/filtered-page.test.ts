import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Page, PageInput } from '../store/index.ts';
import { filteredPage } from './filtered-page.ts';

/** A list of keys as the store pages it. */
function reader(keys: readonly string[]): (page: PageInput) => Promise<Page<string>> {
  return async ({ limit, order, cursor }) => {
    const listed = order === 'ascending' ? keys : keys.toReversed();
    if (cursor === undefined) return { items: listed.slice(0, limit), done: listed.length <= limit };
    const isBefore = (key: string) => (order === 'ascending' ? key < cursor.key : key > cursor.key);
    const rest = listed.filter((key) => key !== cursor.key && isBefore(key) === (cursor.direction === 'backward'));
    const items = cursor.direction === 'backward' ? rest.slice(-limit) : rest.slice(0, limit);
    return { items, done: rest.length <= limit };
  };
}

describe('filteredPage', () => {
  it('pages like a list that holds only what is kept, in both orders and directions', async () => {
    const keys = fc.uniqueArray(fc.integer({ min: 100, max: 999 }).map(String), { maxLength: 40 });
    const order = fc.constantFrom('ascending' as const, 'descending' as const);
    const direction = fc.constantFrom(undefined, 'forward' as const, 'backward' as const);
    await fc.assert(
      fc.asyncProperty(keys, order, direction, fc.integer({ min: 1, max: 9 }), async (all, order, direction, limit) => {
        const sorted = all.toSorted();
        const keep = (key: string) => Number(key) % 3 === 0;
        const page: PageInput = { limit, order, ...(direction && { cursor: { key: '500', direction } }) };
        const found = await filteredPage(reader(sorted), page, (key) => key, keep);
        expect(found).toEqual(await reader(sorted.filter(keep))(page));
      }),
    );
  });
});
