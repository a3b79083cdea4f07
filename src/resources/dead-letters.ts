/** Dead letters: deliveries that will not be tried again by themselves. Look at them, retry them, give them up. */
import { PosthornError } from '../errors.ts';
import type { Attempt, Delivery } from '../model/index.ts';
import type { Context } from './context.ts';
import type { Deliveries, DeliveryDetail } from './deliveries.ts';
import { type DeliveryQuery, type DeliverySelection, readDeliveryQuery } from './delivery-query.ts';
import { type Listing, listing, pageInput } from './paging.ts';
import { text } from './text.ts';

export interface DeadLetter {
  readonly delivery: Delivery;
  /** Absent if it died without one. */
  readonly lastAttempt?: Attempt;
}

/** With `application`, a dead letter of another one is not found. */
export interface DeadLetters {
  list(query?: DeliveryQuery): Promise<Listing<DeadLetter>>;
  get(id: string, application?: string): Promise<DeliveryDetail>;
  /** Leaves the queue with a full new schedule, due now; held until its endpoint is resumed if that is stopped. */
  retry(id: string, application?: string): Promise<Delivery>;
  /** All that are selected at the time of the call; the number that was taken. */
  retryAll(selection: DeliverySelection): Promise<number>;
  discard(id: string, reason: string, application?: string): Promise<Delivery>;
  discardAll(selection: DeliverySelection, reason: string): Promise<number>;
}

const CHUNK = 1000;

export function createDeadLetters(context: Context, deliveries: Pick<Deliveries, 'get'>): DeadLetters {
  const { store, engine, clock } = context;

  async function withLastAttempt(delivery: Delivery): Promise<DeadLetter> {
    const of = { messageId: delivery.messageId, deliveryId: delivery.id };
    const { items } = await store.listAttempts({ ...of, limit: 1, order: 'descending' });
    return { delivery, ...(items[0] !== undefined && { lastAttempt: items[0] }) };
  }

  async function get(id: string, application?: string): Promise<DeliveryDetail> {
    const detail = await deliveries.get(id, application);
    if (detail.delivery.state !== 'dead') throw notDead(detail.delivery);
    return detail;
  }

  /**
   * Visits each match once, oldest first. A retried delivery may die again while the rest are still being taken:
   * going on by id, never by "whatever is dead now", is what makes this end.
   */
  async function takeAll(
    selection: DeliverySelection,
    take: (ids: readonly string[]) => Promise<number>,
  ): Promise<number> {
    const filter = await readDeliveryQuery(store, selection);
    const before = Math.min(filter.before ?? Number.POSITIVE_INFINITY, clock.now() + 1);
    let count = 0;
    let key: string | undefined;
    for (;;) {
      const page = await store.listDeliveries({
        ...filter,
        before,
        states: ['dead'],
        limit: CHUNK,
        order: 'ascending',
        ...(key !== undefined && { cursor: { key, direction: 'forward' } }),
      });
      if (page.items.length > 0) count += await take(page.items.map(({ id }) => id));
      key = page.items.at(-1)?.id;
      if (page.done || key === undefined) return count;
    }
  }

  async function redeliver(ids: readonly string[]): Promise<number> {
    const taken = await store.redeliver({ now: clock.now(), select: { ids }, from: ['dead'] });
    if (taken.ids.length > 0) engine.wake();
    return taken.ids.length;
  }

  async function giveUp(ids: readonly string[], reason: string): Promise<number> {
    return (await store.discard({ now: clock.now(), select: { ids }, reason })).ids.length;
  }

  /** `taken` is 0 when somebody else was faster. */
  async function afterwards(id: string, taken: number): Promise<Delivery> {
    const { delivery } = await deliveries.get(id);
    if (taken === 0) throw notDead(delivery);
    return delivery;
  }

  return {
    async list(query = {}) {
      const filter = await readDeliveryQuery(store, query);
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

    async retry(id, application) {
      await get(id, application);
      return afterwards(id, await redeliver([id]));
    },

    retryAll: (selection) => takeAll(selection, redeliver),

    async discard(id, reason, application) {
      const why = checkReason(reason);
      await get(id, application);
      return afterwards(id, await giveUp([id], why));
    },

    async discardAll(selection, reason) {
      const why = checkReason(reason);
      return takeAll(selection, (ids) => giveUp(ids, why));
    },
  };
}

function notDead({ id, state, reason }: Delivery): PosthornError {
  return new PosthornError(
    'not_found',
    `${id} is not a dead letter: it is ${state} (${reason}); look it up as a delivery`,
  );
}

function checkReason(reason: string): string {
  return text(typeof reason === 'string' ? reason.trim() : reason, ['body', 'reason'], { min: 1, max: 500 });
}
