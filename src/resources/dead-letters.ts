/** Dead letters: deliveries that will not be tried again by themselves. Look at them, retry them, give them up. */
import { PosthornError } from '../errors.ts';
import type { Attempt, Delivery, Message } from '../model/index.ts';
import type { Context } from './context.ts';
import { createArchive, type DeadLetterArchive } from './dead-letter-archive.ts';
import { type GroupQuery, type GroupView, listGroups } from './dead-letter-group.ts';
import { type DeadLetterReport, makeReport, type ReportQuery } from './dead-letter-report.ts';
import {
  checkMeant,
  type DeadLetterSelection,
  type NotDead,
  type Part,
  readSelection,
  type Walked,
  walk,
  walkAll,
  whyNotDead,
} from './dead-letter-selection.ts';
import type { Deliveries, DeliveryDetail } from './deliveries.ts';
import type { DeliveryQuery } from './delivery-query.ts';
import { checkKey, type Listing, listing, pageInput } from './paging.ts';
import { text } from './text.ts';

export interface DeadLetter {
  readonly delivery: Delivery;
  /** Absent if it died without one. */
  readonly lastAttempt?: Attempt;
}

export interface DeadLetterDetail extends DeliveryDetail {
  readonly message: Message;
}

export type DeadLetterQuery = DeliveryQuery & Pick<DeadLetterSelection, 'group'>;

/** What became of a part. */
export interface Taken {
  readonly count: number;
  /** Matched, and could not be taken. */
  readonly skipped: number;
  /** Those of the skipped ones whose endpoint is deleted: a retry has nowhere to go. Others were faster with the rest. */
  readonly withoutEndpoint: number;
  /** Those that were named by id and are no dead letters: never were, or are not any more. */
  readonly notDead: readonly NotDead[];
  /** Where the next part begins. */
  readonly iterator: string | null;
  readonly done: boolean;
}

/** With `application`, a dead letter of another one is not found. */
export interface DeadLetters extends DeadLetterArchive {
  list(query?: DeadLetterQuery): Promise<Listing<DeadLetter>>;
  get(id: string, application?: string): Promise<DeadLetterDetail>;
  /** Those that failed alike, with how many, since when, and an example. */
  groups(query?: GroupQuery): Promise<Listing<GroupView>>;
  /** All groups of a time, the largest first. */
  report(query?: ReportQuery): Promise<DeadLetterReport>;
  /** Leaves the queue with a full new schedule, due now; held until its endpoint is resumed if that is stopped. */
  retry(id: string, application?: string): Promise<Delivery>;
  /** All that are selected at the time of the call, a transaction for each thousand; the number that was taken. */
  retryAll(selection: DeadLetterSelection): Promise<number>;
  /** A part of the selection, in one transaction: how a large one is retried with progress, and stopped half-way. */
  retryPart(selection: DeadLetterSelection, part: Part): Promise<Taken>;
  discard(id: string, reason: string, application?: string): Promise<Delivery>;
  discardAll(selection: DeadLetterSelection, reason: string): Promise<number>;
  discardPart(selection: DeadLetterSelection, part: Part, reason: string): Promise<Taken>;
}

interface Took {
  readonly count: number;
  readonly withoutEndpoint: number;
}
type Take = (items: readonly Pick<Delivery, 'id' | 'destinationId'>[]) => Promise<Took>;

export function createDeadLetters(context: Context, deliveries: Pick<Deliveries, 'get'>): DeadLetters {
  const { store, engine, clock } = context;

  async function withLastAttempt(delivery: Delivery): Promise<DeadLetter> {
    const of = { messageId: delivery.messageId, deliveryId: delivery.id };
    const { items } = await store.listAttempts({ ...of, limit: 1, order: 'descending' });
    return { delivery, ...(items[0] !== undefined && { lastAttempt: items[0] }) };
  }

  async function get(id: string, application?: string): Promise<DeadLetterDetail> {
    const detail = await deliveries.get(id, application);
    const { applicationId, messageId, state } = detail.delivery;
    if (state !== 'dead') throw notDead(detail.delivery);
    const message = await store.getMessage({ applicationId, id: messageId });
    if (message === undefined) throw new PosthornError('not_found', `The message of ${id} is gone`);
    return { ...detail, message };
  }

  async function takeSome(selection: DeadLetterSelection, part: Part, take: Take): Promise<Taken> {
    checkMeant(selection, ['selection']);
    if (part.iterator !== undefined) checkKey(part.iterator, 'dlv', ['body', 'iterator']);
    return takePart(await walk(store, selection, part), take);
  }

  async function takePart({ items, notDead, iterator, done }: Walked, take: Take): Promise<Taken> {
    const { count, withoutEndpoint } = items.length === 0 ? { count: 0, withoutEndpoint: 0 } : await take(items);
    return { count, skipped: items.length - count, withoutEndpoint, notDead, iterator, done };
  }

  async function takeAll(selection: DeadLetterSelection, take: Take): Promise<number> {
    let count = 0;
    checkMeant(selection, ['selection']);
    for await (const part of walkAll(store, selection, clock.now())) count += (await takePart(part, take)).count;
    return count;
  }

  const redeliver: Take = async (items) => {
    const ids = items.map(({ id }) => id);
    const taken = new Set((await store.redeliver({ now: clock.now(), select: { ids }, from: ['dead'] })).ids);
    if (taken.size > 0) engine.wake();
    const skipped = items.filter(({ id }) => !taken.has(id));
    return { count: taken.size, withoutEndpoint: await countWithoutEndpoint(skipped) };
  };

  /** Asks for each endpoint once, and for none where all were taken. */
  async function countWithoutEndpoint(skipped: Parameters<Take>[0]): Promise<number> {
    const endpoints = [...new Set(skipped.map(({ destinationId }) => destinationId))];
    const found = await Promise.all(endpoints.map((idOrName) => store.get({ kind: 'endpoint', idOrName })));
    const gone = new Set(endpoints.filter((_, index) => found[index] === undefined));
    return skipped.filter(({ destinationId }) => gone.has(destinationId)).length;
  }

  function giveUp(reason: string): Take {
    const why = checkReason(reason);
    return async (items) => {
      const ids = items.map(({ id }) => id);
      const taken = await store.discard({ now: clock.now(), select: { ids }, reason: why });
      return { count: taken.ids.length, withoutEndpoint: 0 };
    };
  }

  async function takeOne(id: string, application: string | undefined, take: Take): Promise<Delivery> {
    const taken = await take([(await get(id, application)).delivery]);
    const { delivery } = await deliveries.get(id);
    if (taken.withoutEndpoint > 0 && delivery.state === 'dead') {
      throw new PosthornError('not_found', `${id} cannot be sent again: its endpoint is deleted`);
    }
    // Somebody else was faster.
    if (taken.count === 0) throw notDead(delivery);
    return delivery;
  }

  return {
    ...createArchive(context),

    async list(query = {}) {
      const filter = await readSelection(store, query);
      const page = pageInput(query, { prefix: 'dlv', order: 'descending' });
      const { items, done } = await store.listDeliveries({ ...filter, states: ['dead'], ...page });
      const found = { items: await Promise.all(items.map(withLastAttempt)), done };
      return listing(
        found,
        ({ delivery }) => delivery.id,
        (item) => item,
      );
    },

    get,
    groups: (query = {}) => listGroups(store, query),
    report: (query = {}) => makeReport(store, clock.now(), query),

    retry: (id, application) => takeOne(id, application, redeliver),
    retryAll: (selection) => takeAll(selection, redeliver),
    retryPart: (selection, part) => takeSome(selection, part, redeliver),

    discard: async (id, reason, application) => takeOne(id, application, giveUp(reason)),
    discardAll: async (selection, reason) => takeAll(selection, giveUp(reason)),
    discardPart: async (selection, part, reason) => takeSome(selection, part, giveUp(reason)),
  };
}

function notDead(delivery: Delivery): PosthornError {
  return new PosthornError(
    'not_found',
    `${delivery.id} is not a dead letter: ${whyNotDead(delivery)}; look it up as a delivery`,
  );
}

function checkReason(reason: string): string {
  return text(typeof reason === 'string' ? reason.trim() : reason, ['body', 'reason'], { min: 1, max: 500 });
}
