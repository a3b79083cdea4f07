/** Which dead letters are retried, discarded or archived, and the walk over them: each match once, oldest first. */
import { invalid, PosthornError } from '../errors.ts';
import type { Delivery } from '../model/index.ts';
import type { DeliveryFilter, Store } from '../store/index.ts';
import { type KnownKeys, objectArgument, refuseUnknownKeys } from './argument.ts';
import { parseGroupId } from './dead-letter-group.ts';
import { type DeliverySelection, ownerId, readDeliveryQuery } from './delivery-query.ts';

/** By filter, by group, by id, or all. */
export interface DeadLetterSelection extends DeliverySelection {
  /** A group's id, in place of owner, event types and fingerprint. */
  readonly group?: string;
  /** These, and nothing by filter; with `application` or `source`, those of them that are its own. */
  readonly ids?: readonly string[];
  /** All there are, of the application where a token has one. */
  readonly all?: boolean;
}

const SELECTS_BY: Readonly<Record<keyof DeadLetterSelection, true>> = {
  application: true,
  source: true,
  endpoint: true,
  message: true,
  eventTypes: true,
  before: true,
  after: true,
  cause: true,
  fingerprint: true,
  error: true,
  diedBefore: true,
  diedAfter: true,
  group: true,
  ids: true,
  all: true,
};
/** A field that nobody knows selects nothing by itself: all would be taken. */
const FIELDS: KnownKeys = { noun: 'a field to select by', known: Object.keys(SELECTS_BY) };

/** Everything is only meant when it is said: what changes dead letters takes no selection that names nothing. */
export function checkMeant(selection: DeadLetterSelection, loc: readonly string[]): void {
  const { all, ...fields } = objectArgument(selection, 'selection');
  refuseUnknownKeys(selection, FIELDS);
  const named = Object.entries(fields).find(([, value]) => value !== undefined)?.[0];
  if (all && named !== undefined) throw invalid([...loc, named], 'cannot be given with all: name some, or all');
  if (all || named !== undefined) return;
  throw invalid(loc, 'names no dead letters: give a filter, a group, ids, or "all": true');
}

/** A part of a selection: `limit` of them from `iterator` on. */
export interface Part {
  readonly limit?: number;
  readonly iterator?: string;
}

/** One that was named and is no dead letter, and what it is instead. */
export interface NotDead {
  readonly id: string;
  readonly reason: string;
}

export interface Walked {
  readonly items: readonly Delivery[];
  /** Of those that were named by id. */
  readonly notDead: readonly NotDead[];
  readonly iterator: string | null;
  readonly done: boolean;
}

export const LARGEST_PART = 1000;

/** One part of the dead letters of a selection. */
export async function walk(store: Store, selection: DeadLetterSelection, part: Part, before?: number): Promise<Walked> {
  const { limit = LARGEST_PART, iterator } = part;
  if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_PART) {
    throw invalid(['body', 'limit'], `must be from 1 to ${LARGEST_PART}`);
  }
  const { ids } = objectArgument(selection, 'selection');
  refuseUnknownKeys(selection, FIELDS);
  if (ids !== undefined) return chosen(store, selection);
  const filter = await readSelection(store, selection);
  const page = await store.listDeliveries({
    ...filter,
    ...(before !== undefined && { before: Math.min(filter.before ?? before, before) }),
    states: ['dead'],
    limit,
    order: 'ascending',
    ...(iterator !== undefined && { cursor: { key: iterator, direction: 'forward' as const } }),
  });
  const last = page.items.at(-1)?.id;
  const done = page.done || last === undefined;
  return { items: page.items, notDead: [], iterator: done ? null : last, done };
}

/**
 * All of them, part by part. A retried delivery may die again while the rest are still being taken: going on by id, never
 * by "whatever is dead now", and not beyond those of the start, is what makes this end.
 */
export async function* walkAll(store: Store, selection: DeadLetterSelection, now: number): AsyncGenerator<Walked> {
  let iterator: string | null = null;
  do {
    const part: Walked = await walk(store, selection, iterator === null ? {} : { iterator }, now + 1);
    yield part;
    iterator = part.iterator;
  } while (iterator !== null);
}

async function chosen(store: Store, selection: DeadLetterSelection): Promise<Walked> {
  const { ids = [], application, source, all: _, ...others } = selection;
  const other = Object.entries(others).find(([, value]) => value !== undefined)?.[0];
  if (other !== undefined) throw invalid(['body', other], 'cannot be given with ids, which say by themselves which');
  if (!Array.isArray(ids) || ids.length > LARGEST_PART || ids.some((id) => typeof id !== 'string' || id === '')) {
    throw invalid(['body', 'ids'], `must be a list of at most ${LARGEST_PART} ids, none of them empty`);
  }
  const owner = await ownerId(store, {
    ...(application !== undefined && { application }),
    ...(source !== undefined && { source }),
  });
  const items: Delivery[] = [];
  const notDead: NotDead[] = [];
  const named = [...new Set(ids)];
  const whose = owner?.startsWith('src_') ? 'source' : 'application';
  const none = owner === undefined ? 'there is no such delivery' : `the ${whose} has no such delivery`;
  const found = await Promise.all(named.map((id) => store.getDelivery({ id })));
  for (const [index, id] of named.entries()) {
    const delivery = found[index];
    // What belongs to another owner is not there for whoever names this one: that there is one is the other's to know.
    const own = owner === undefined || delivery?.applicationId === owner ? delivery : undefined;
    if (own?.state === 'dead') items.push(own);
    else notDead.push({ id, reason: own === undefined ? none : whyNotDead(own) });
  }
  return { items, notDead, iterator: null, done: true };
}

/** Completes "… is no dead letter: ". */
export function whyNotDead({ state, reason }: Delivery): string {
  return `it is ${state} (${reason})`;
}

export async function readSelection(store: Store, selection: DeadLetterSelection): Promise<DeliveryFilter> {
  const { group, ids: _, all: __, ...query } = objectArgument(selection, 'selection');
  const filter = await readDeliveryQuery(store, query);
  if (group === undefined) return filter;
  const { applicationId, eventType, fingerprint } = parseGroupId(group, ['group']);
  if (filter.applicationId !== undefined && filter.applicationId !== applicationId) {
    throw new PosthornError('not_found', `There is no group ${JSON.stringify(group.slice(0, 200))}`);
  }
  if (filter.eventTypes !== undefined || filter.fingerprint !== undefined) {
    throw invalid(['group'], 'cannot be given with event types or a fingerprint, which it says by itself');
  }
  return { ...filter, applicationId, eventTypes: [eventType], fingerprint };
}
