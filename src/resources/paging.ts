import { invalid } from '../errors.ts';
import type { IdPrefix } from '../ids.ts';
import type { Page, PageInput } from '../store/index.ts';
import { choiceArgument } from './argument.ts';

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 250;

/** A page as a client asks for it. `iterator` is what the last page gave; with a "-" before it, pages go back. */
export interface PageRequest {
  readonly limit?: number;
  readonly iterator?: string;
  readonly order?: 'ascending' | 'descending';
}

/** One page and the way to the next (`iterator`) and the one before (`prevIterator`). */
export interface Listing<T> {
  readonly data: readonly T[];
  readonly iterator: string | null;
  readonly prevIterator?: string;
  readonly done: boolean;
}

/** `prefix` is that of the ids the list goes by; lists that go by name have none. */
export function pageInput(
  request: PageRequest,
  defaults: { readonly prefix?: IdPrefix; readonly order: PageInput['order'] },
): PageInput {
  const limit = request.limit ?? DEFAULT_LIMIT;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw invalid(['query', 'limit'], `must be from 1 to ${MAX_LIMIT}`);
  }
  const order = choiceArgument(request.order ?? defaults.order, 'order', ['ascending', 'descending']);
  const page = { limit, order };
  const { iterator } = request;
  if (iterator === undefined || iterator === '') return page;

  if (typeof iterator !== 'string') throw invalid(['query', 'iterator'], 'must be a string', 'type_error');
  const backward = iterator.startsWith('-');
  const key = backward ? iterator.slice(1) : iterator;
  if (defaults.prefix !== undefined) checkKey(key, defaults.prefix, ['query', 'iterator']);
  return { ...page, cursor: { key, direction: backward ? 'backward' : 'forward' } };
}

/** What is no id, such as a word, sorts somewhere too: a walk that begins there passes over what comes before it. */
export function checkKey(key: string, prefix: IdPrefix, loc: readonly string[]): void {
  if (typeof key === 'string' && new RegExp(`^${prefix}_[0-9A-Za-z]{27}$`).test(key)) return;
  throw invalid(loc, `must be the "iterator" or "prevIterator" of a page of this list (${prefix}_…)`);
}

export function listing<S, T>(page: Page<S>, keyOf: (item: S) => string, toItem: (item: S) => T): Listing<T> {
  const first = page.items[0];
  const last = page.items.at(-1);
  return {
    data: page.items.map(toItem),
    iterator: last === undefined ? null : keyOf(last),
    ...(first !== undefined && { prevIterator: `-${keyOf(first)}` }),
    done: page.done,
  };
}
