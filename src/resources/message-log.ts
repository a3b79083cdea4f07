/** What came in and went out, for a person to look at: messages of applications and sources alike, and as they come. */
import { invalid } from '../errors.ts';
import { floorId } from '../ids.ts';
import type { Delivery, DeliveryState, Message } from '../model/index.ts';
import { textArgument } from './argument.ts';
import type { Context } from './context.ts';
import { attemptsOf, type DeliveryDetail } from './deliveries.ts';
import { type DeliverySelection, ownerId } from './delivery-query.ts';
import { findMessage } from './lookup.ts';
import { type TimeQuery, timedPage, timeFilter } from './message-query.ts';
import { missing } from './missing.ts';
import { type Listing, listing } from './paging.ts';

/** Whose: an application's or a source's, by id or uid. */
export type Owner = Pick<DeliverySelection, 'application' | 'source'>;

export interface LoggedMessage {
  readonly message: Message;
  readonly deliveries: readonly DeliveryDetail[];
}

export interface ListedMessage {
  readonly message: Message;
  /** How many of its deliveries are in which state; of the first 250, as they are listed. */
  readonly deliveryCounts: DeliveryCounts;
}
type DeliveryCounts = Readonly<Partial<Record<DeliveryState, number>>>;

export interface FollowInput {
  /** The `iterator` of the last answer. Without it nothing is read: the answer says where now is. */
  readonly after?: string;
  /** How many messages after `after` the caller has seen already. */
  readonly known?: number;
}

export interface Followed {
  /** Oldest first. The ones that the caller knows come along: it tells them by their ids. Empty when there is no other. */
  readonly data: readonly Message[];
  readonly iterator: string;
}

export interface MessageLog {
  /** Newest first. */
  list(owner: Owner, query?: TimeQuery): Promise<Listing<ListedMessage>>;
  /** By the message's id; with an owner also by the event id. */
  get(idOrEventId: string, owner?: Owner): Promise<LoggedMessage>;
  /**
   * What came after a place in the log. Nodes commit ids out of order, so the place stays a few seconds behind, and
   * what lies between is known by its number: nothing is passed over, and nothing is kept here about who follows.
   */
  follow(owner: Owner, input?: FollowInput): Promise<Followed>;
}

/** Longer than a commit takes, and than the clocks of nodes are apart. */
const SETTLED_MS = 5000;
const FOLLOW_LIMIT = 25;
/** One answer holds no more than this of bodies, but for the first. */
const FOLLOW_BYTES = 4 * 1024 * 1024;
const DELIVERIES = 250;
/** What is done first, what went wrong next. */
const ORDER: readonly DeliveryState[] = ['delivered', 'dead', 'leased', 'pending', 'held', 'cancelled'];
const PLACE = /^msg_[0-9A-Za-z]{10,27}$/;

export function createMessageLog({ store, clock }: Context): MessageLog {
  async function requireOwner(owner: Owner): Promise<string> {
    const id = await ownerId(store, owner);
    if (id === undefined) throw invalid(['query', 'source'], 'is required, or an application: say whose messages');
    return id;
  }

  /** A message alone does not say whose it is; its deliveries do. */
  async function ownerOf(messageId: string): Promise<string> {
    const { items } = await store.listDeliveries({ messageId, limit: 1, order: 'ascending' });
    const [delivery] = items;
    if (delivery !== undefined) return delivery.applicationId;
    throw missing('message', messageId, 'or it was for nobody: then name its source or application too');
  }

  async function withCounts(message: Message): Promise<ListedMessage> {
    return { message, deliveryCounts: countByState(await deliveriesOf(message)) };
  }

  async function deliveriesOf({ id }: Message): Promise<readonly Delivery[]> {
    return (await store.listDeliveries({ messageId: id, limit: DELIVERIES, order: 'ascending' })).items;
  }

  return {
    async list(owner, query = {}) {
      const applicationId = await requireOwner(owner);
      const page = await store.listMessages({ applicationId, ...timeFilter(query), ...timedPage(query, 'msg') });
      return listing(
        { items: await Promise.all(page.items.map(withCounts)), done: page.done },
        ({ message }) => message.id,
        (item) => item,
      );
    },

    async get(idOrEventId, owner = {}) {
      const name = textArgument(idOrEventId, 'message');
      const applicationId = (await ownerId(store, owner)) ?? (await ownerOf(name));
      const message = await findMessage(store, applicationId, name);
      const items = await deliveriesOf(message);
      const detail = async (delivery: Delivery) => ({
        delivery,
        attempts: await attemptsOf(store, delivery),
      });
      return { message, deliveries: await Promise.all(items.map(detail)) };
    },

    async follow(owner, { after, known = 0 } = {}) {
      const applicationId = await requireOwner(owner);
      const now = clock.now();
      if (after === undefined) return { data: [], iterator: floorId('msg', now) };
      if (!PLACE.test(after)) throw invalid(['query', 'after'], 'must be the "iterator" of the last answer (msg_…)');
      const page = await store.listMessages({
        applicationId,
        limit: FOLLOW_LIMIT,
        order: 'ascending',
        cursor: { key: after, direction: 'forward' },
      });
      const data = withinBytes(page.items);
      // With more to come at once, going on matters more than what may still be committed out of order.
      const more = !page.done || data.length < page.items.length;
      if (more) return { data, iterator: data.at(-1)?.id ?? after };
      const settled = floorId('msg', now - SETTLED_MS);
      const iterator = data.findLast(({ id }) => id < settled)?.id ?? after;
      return { data: data.length > known ? data : [], iterator };
    },
  };
}

/** Without the states that none is in. */
export function countByState(deliveries: readonly Delivery[]): DeliveryCounts {
  const states = ORDER.map((state) => [state, deliveries.filter((each) => each.state === state).length] as const);
  return Object.fromEntries(states.filter(([, count]) => count > 0));
}

function withinBytes(messages: readonly Message[]): readonly Message[] {
  let bytes = 0;
  const end = messages.findIndex(({ payload }, index) => {
    bytes += payload.byteLength;
    return index > 0 && bytes > FOLLOW_BYTES;
  });
  return end === -1 ? messages : messages.slice(0, end);
}
