/** Pages of what a predicate keeps, for questions that the store's filters do not answer. */
import type { Page, PageInput } from '../store/index.ts';

/**
 * Reads on in the direction of paging until the page is full or the list ends. Costs one read for each `limit` rows
 * that are passed over; the store's own filters should leave little to pass over.
 */
export async function filteredPage<T>(
  read: (page: PageInput) => Promise<Page<T>>,
  page: PageInput,
  keyOf: (item: T) => string,
  keep: (item: T) => boolean | Promise<boolean>,
): Promise<Page<T>> {
  const backward = page.cursor?.direction === 'backward';
  const kept: T[] = [];
  let cursor = page.cursor;
  for (;;) {
    const { items, done } = await read(cursor === undefined ? page : { ...page, cursor });
    const verdicts = await Promise.all(items.map(async (item) => keep(item)));
    const passed = items.filter((_, index) => verdicts[index]);
    if (backward) passed.reverse();
    kept.push(...passed);
    const last = items.at(backward ? 0 : -1);
    // One more than asked proves that the list goes on.
    if (done || last === undefined || kept.length > page.limit) break;
    cursor = { key: keyOf(last), direction: backward ? 'backward' : 'forward' };
  }
  const items = kept.slice(0, page.limit);
  if (backward) items.reverse();
  return { items, done: kept.length <= page.limit };
}
