import type { PageInput } from '../store/index.ts';
import { namesArgument, timeArgument } from './argument.ts';
import { type PageRequest, pageInput } from './paging.ts';

/** What lists of messages, deliveries and attempts can be narrowed by. Times are exclusive. */
export interface TimeQuery extends PageRequest {
  readonly before?: number;
  readonly after?: number;
  readonly eventTypes?: readonly string[];
}

/** Lists whose rows belong to a message can also be narrowed by what it is marked with. */
export interface MessageQuery extends TimeQuery {
  readonly channel?: string;
  readonly tag?: string;
}

/**
 * Newest first. With `after` alone the first page is the oldest one after that time, and `prevIterator` leads on to
 * newer ones: how pollers of Svix's API catch up.
 */
export function timedPage(query: TimeQuery, prefix: 'msg' | 'atmpt' | 'dlv'): PageInput {
  const page = pageInput(query, { prefix, order: 'descending' });
  const catchUp = query.after !== undefined && query.before === undefined && page.cursor === undefined;
  return catchUp && page.order === 'descending' ? { ...page, cursor: { key: '', direction: 'backward' } } : page;
}

/** The parts of a query that the store's filters share. */
export function timeFilter(query: TimeQuery): { before?: number; after?: number; eventTypes?: readonly string[] } {
  return {
    ...(query.before !== undefined && { before: timeArgument(query.before, 'before') }),
    ...(query.after !== undefined && { after: timeArgument(query.after, 'after') }),
    ...(query.eventTypes !== undefined && { eventTypes: namesArgument(query.eventTypes, 'eventTypes') }),
  };
}
