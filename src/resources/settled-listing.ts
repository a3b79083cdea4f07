import { floorId } from '../ids.ts';
import type { Attempt } from '../model/index.ts';
import type { Page, PageInput } from '../store/index.ts';
import { type Listing, listing } from './paging.ts';

/** Longer than an attempt may take its place behind others (engine/deliver.ts), and be on its way to the disk. */
const SETTLED_AFTER_MS = 5000;
const ID_LENGTH = 'atmpt_'.length + 27;

/**
 * A page of attempts. Where it reaches the newest, the iterator that leads on to newer ones begins a few seconds back: an
 * attempt is listed when it is over, by the time when its delivery was made, so others may still come before the last one.
 * Who follows the list with it sees each attempt at least once, and those of the last seconds more than once. Not what a store
 * that was away could only take in later than that.
 */
export function settledListing(found: Page<Attempt>, page: PageInput, now: number): Listing<Attempt> {
  const all = listing(
    found,
    ({ id }) => id,
    (attempt) => attempt,
  );
  const descends = page.order === 'descending';
  const newest = descends ? found.items[0] : found.items.at(-1);
  const isAhead = (page.cursor?.direction === 'backward') === descends;
  const reachesNewest = isAhead ? found.done : descends && page.cursor === undefined;
  const settled = floorId('atmpt', now - SETTLED_AFTER_MS).padEnd(ID_LENGTH, '0');
  if (newest === undefined || !reachesNewest || newest.id <= settled) return all;
  return descends ? { ...all, prevIterator: `-${settled}` } : { ...all, iterator: settled };
}
