/** Attempts: every try with what came back; and for an endpoint or a message, how far each delivery is. */
import type { Attempt, Delivery, Message } from '../model/index.ts';
import type { AttemptFilter, Page, PageInput, Stored } from '../store/index.ts';
import { textArgument } from './argument.ts';
import type { Context } from './context.ts';
import { filteredPage } from './filtered-page.ts';
import { findApplication, findEndpoint, findMessage } from './lookup.ts';
import { type MessageQuery, timedPage, timeFilter } from './message-query.ts';
import { missing } from './missing.ts';
import { type Listing, listing, type PageRequest, pageInput } from './paging.ts';
import { type Progress, progressOf, STATES_OF_PROGRESS } from './progress.ts';
import { settledListing } from './settled-listing.ts';

export interface AttemptQuery extends MessageQuery {
  readonly outcome?: 'success' | 'failure';
  /** 200 for 2xx, and so on; 0 for attempts without an answer. */
  readonly statusClass?: number;
}

export interface AttemptedMessage {
  readonly delivery: Delivery;
  readonly message: Message;
}

export interface AttemptedDestination {
  readonly delivery: Delivery;
  /** Absent when the endpoint has been deleted since; `lastUrl` is where it was. */
  readonly endpoint?: Stored<'endpoint'>;
  readonly lastUrl?: string;
}

interface Found {
  readonly delivery: Delivery;
  readonly message: Message | undefined;
}

/** Applications, endpoints and messages are named by id, uid or event id. */
export interface Attempts {
  get(application: string, message: string, id: string): Promise<Attempt>;
  listByEndpoint(application: string, endpoint: string, query?: AttemptQuery): Promise<Listing<Attempt>>;
  listByMessage(
    application: string,
    message: string,
    query?: AttemptQuery & { readonly endpoint?: string },
  ): Promise<Listing<Attempt>>;
  /** The endpoint's messages with their deliveries. The iterator is a delivery's id. */
  listMessages(
    application: string,
    endpoint: string,
    query?: MessageQuery & { readonly progress?: Progress },
  ): Promise<Listing<AttemptedMessage>>;
  /** The message's endpoints with their deliveries, deleted ones included. The iterator is a delivery's id. */
  listDestinations(application: string, message: string, page?: PageRequest): Promise<Listing<AttemptedDestination>>;
}

export function createAttempts(context: Context): Attempts {
  const { store } = context;

  async function messageOf(of: Attempt | Delivery): Promise<Message | undefined> {
    return store.getMessage({ applicationId: of.applicationId, id: of.messageId });
  }

  async function list(filter: AttemptFilter, query: AttemptQuery): Promise<Listing<Attempt>> {
    const asked: AttemptFilter = {
      ...filter,
      ...timeFilter(query),
      ...(query.outcome !== undefined && { outcome: query.outcome }),
      ...(query.statusClass !== undefined && { statusClass: query.statusClass }),
    };
    const read = (page: PageInput) => store.listAttempts({ ...asked, ...page });
    const page = timedPage(query, 'atmpt');
    const keep = async (attempt: Attempt) => isMarked(await messageOf(attempt), query);
    const found = hasMarks(query) ? await filteredPage(read, page, idOf, keep) : await read(page);
    return settledListing(found, page, context.clock.now());
  }

  async function withMessage(delivery: Delivery): Promise<Found> {
    return { delivery, message: await messageOf(delivery) };
  }

  async function withEndpoint(delivery: Delivery): Promise<AttemptedDestination> {
    const { applicationId, destinationId, messageId } = delivery;
    const endpoint = await store.get({ kind: 'endpoint', idOrName: destinationId, parentId: applicationId });
    if (endpoint !== undefined) return { delivery, endpoint };
    const last = await store.listAttempts({ messageId, deliveryId: delivery.id, limit: 1, order: 'descending' });
    const lastUrl = last.items[0]?.url;
    return { delivery, ...(lastUrl !== undefined && { lastUrl }) };
  }

  return {
    async get(application, message, id) {
      const { id: applicationId } = await findApplication(store, application);
      const { id: messageId } = await findMessage(store, applicationId, message);
      const attempt = await store.getAttempt({ messageId, id: textArgument(id, 'id') });
      if (attempt === undefined) throw missing('attempt', id);
      return attempt;
    },

    async listByEndpoint(application, endpoint, query = {}) {
      const { id: applicationId } = await findApplication(store, application);
      const { record } = await findEndpoint(store, applicationId, endpoint);
      return list({ destinationId: record.id }, query);
    },

    async listByMessage(application, message, query = {}) {
      const { id: applicationId } = await findApplication(store, application);
      const { id: messageId } = await findMessage(store, applicationId, message);
      if (query.endpoint === undefined) return list({ messageId }, query);
      const { record } = await findEndpoint(store, applicationId, query.endpoint);
      return list({ messageId, destinationId: record.id }, query);
    },

    async listMessages(application, endpoint, query = {}) {
      const { id: applicationId } = await findApplication(store, application);
      const { record } = await findEndpoint(store, applicationId, endpoint);
      const { progress } = query;
      const states = progress === undefined ? {} : { states: STATES_OF_PROGRESS[progress] };
      const read = async (page: PageInput): Promise<Page<Found>> => {
        const filter = { destinationId: record.id, ...timeFilter(query), ...states };
        const { items, done } = await store.listDeliveries({ ...filter, ...page });
        return { items: await Promise.all(items.map(withMessage)), done };
      };
      const keep = ({ delivery, message }: Found) =>
        (progress === undefined || progressOf(delivery) === progress) && isMarked(message, query);
      const found = await filteredPage(read, timedPage(query, 'dlv'), deliveryIdOf, keep);
      return listing(found, deliveryIdOf, (item) => item as AttemptedMessage);
    },

    async listDestinations(application, message, request = {}) {
      const { id: applicationId } = await findApplication(store, application);
      const { id: messageId } = await findMessage(store, applicationId, message);
      const page = pageInput(request, { prefix: 'dlv', order: 'descending' });
      const { items, done } = await store.listDeliveries({ messageId, ...page });
      return listing({ items: await Promise.all(items.map(withEndpoint)), done }, deliveryIdOf, (item) => item);
    },
  };
}

const idOf = ({ id }: { readonly id: string }): string => id;
const deliveryIdOf = ({ delivery }: { readonly delivery: Delivery }): string => delivery.id;

function hasMarks(query: MessageQuery): boolean {
  return query.channel !== undefined || query.tag !== undefined;
}

/** A message that is gone from the store matches nothing. */
function isMarked(message: Message | undefined, { channel, tag }: MessageQuery): boolean {
  if (message === undefined) return false;
  if (channel !== undefined && !message.channels?.includes(channel)) return false;
  return tag === undefined || message.tags?.includes(tag) === true;
}
