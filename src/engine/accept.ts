/** Accept: choose the destinations, commit the message with its deliveries, hand what is leased straight to its lane. */
import type { Clock } from '../clock.ts';
import type { Dispatch } from '../dispatch/index.ts';
import { PosthornError } from '../errors.ts';
import type { Ids } from '../ids.ts';
import type { Message } from '../model/index.ts';
import type { AcceptItem, AcceptResult, ClaimedDelivery, NewDelivery, Remembered, Store } from '../store/index.ts';
import { Batcher } from './batcher.ts';
import type { Audience, Directory, Target } from './directory.ts';
import type { Publication, Published } from './engine.ts';
import type { HandOffs } from './hand-offs.ts';
import { type Handlers, isHandler } from './handling.ts';
import type { Lanes } from './lanes.ts';

export interface AcceptorOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly directory: Directory;
  readonly lanes: Lanes;
  readonly handOffs: HandOffs;
  readonly handlers: Handlers;
  readonly dispatch: Dispatch;
  readonly takesWork: boolean;
  readonly epoch: () => number;
  readonly onHandedOff: () => void;
  readonly onFenced: () => void;
}

const MAX_ACCEPTS_PER_COMMIT = 1000;
/** Payloads of one commit are in memory several times on their way to the disk. */
const MAX_BYTES_PER_COMMIT = 16 * 1024 * 1024;
/** Each reload sees the change that made the last try stale; more than this many in a row is a storm of changes. */
const MAX_STALE = 20;

interface FannedOut extends AcceptItem {
  /** When its places in the lanes were promised, by this node's clock. */
  readonly handedAt: number;
}

interface Committed {
  readonly result: AcceptResult;
  readonly epoch: number;
  readonly fenced: boolean;
}

export class Acceptor {
  readonly #options: AcceptorOptions;
  readonly #commits: Batcher<AcceptItem, Committed>;

  constructor(options: AcceptorOptions) {
    this.#options = options;
    const bytesOf = ({ message }: AcceptItem) => message.payload.length;
    const { batchesAtOnce: atOnce } = options.store;
    const limits = {
      maxItems: MAX_ACCEPTS_PER_COMMIT,
      maxBytes: MAX_BYTES_PER_COMMIT / atOnce,
      bytesOf,
      atOnce,
      // What is accepted much sooner than it can be sent only lies in memory, or in the store to be claimed again.
      hasOtherWork: () => options.lanes.hasPlenty,
    };
    this.#commits = new Batcher(limits, (items) => this.#commit(items));
  }

  async publish(publication: Publication): Promise<Published> {
    const { directory } = this.#options;
    for (let stale = 0; stale < MAX_STALE; stale++) {
      const audience = directory.peek(publication.application) ?? (await directory.audience(publication.application));
      if (audience === undefined) throw noOwner(publication.application);
      const message = this.#toMessage(publication, audience);
      const item = this.#fanOut(message, audience, publication.remember?.(message));
      if (publication.onlyIfWanted && item.deliveries.length === 0) {
        // Another node may have added a destination a moment ago: look once more before it is turned away.
        if (stale > 0) return { kind: 'unwanted' };
        directory.changed(audience.applicationId);
        continue;
      }
      let committed: Committed;
      try {
        committed = await this.#commits.add(item);
      } catch (error) {
        this.#unreserve(item);
        throw error;
      }
      const { result, epoch, fenced } = committed;
      if (result.kind === 'accepted') {
        this.#handOff(item, epoch, fenced);
        return { kind: 'accepted', message: item.message, destinations: item.deliveries.length };
      }
      this.#unreserve(item);
      if (result.kind === 'duplicate') return result;
      directory.changed(audience.applicationId);
    }
    throw new PosthornError('conflict', 'The endpoints of this application keep changing: try again in a moment.');
  }

  /** Accepts what was published inside callers' own transactions; answers how many it looked at. */
  async relay(limit: number): Promise<number> {
    const { store, clock, directory } = this.#options;
    const epoch = this.#options.epoch();
    let items: readonly (FannedOut | undefined)[] = [];
    const fanOut = async (messages: readonly Message[]) => {
      for (const item of items) if (item !== undefined) this.#unreserve(item);
      items = [];
      const found = await Promise.allSettled(messages.map((message) => this.#relayed(message)));
      // Those that were found hold places, which are given back when another was not.
      items = found.map((each) => (each.status === 'fulfilled' ? each.value : undefined));
      for (const each of found) if (each.status === 'rejected') throw each.reason;
      return items;
    };
    try {
      const { fenced, results } = await store.relay({
        epoch,
        now: clock.now(),
        limit,
        maxBytes: MAX_BYTES_PER_COMMIT,
        fanOut,
      });
      if (fenced) this.#options.onFenced();
      for (const [index, item] of items.entries()) {
        if (item === undefined) continue;
        if (results[index] === 'accepted') this.#handOff(item, epoch, fenced);
        else this.#unreserve(item);
        if (results[index] === 'stale') directory.changed(item.message.applicationId);
      }
      return results.length;
    } catch (error) {
      for (const item of items) if (item !== undefined) this.#unreserve(item);
      throw error;
    }
  }

  idle(): Promise<void> {
    return this.#commits.idle();
  }

  async #relayed(message: Message): Promise<FannedOut | undefined> {
    const { directory } = this.#options;
    const { applicationId } = message;
    const audience = directory.peek(applicationId) ?? (await directory.audience(applicationId));
    return audience && this.#fanOut(message, audience);
  }

  #toMessage(publication: Publication, audience: Audience): Message {
    const { clock, ids } = this.#options;
    const { eventId, channels, tags, headers, contentType } = publication;
    const message: { -readonly [K in keyof Message]: Message[K] } = {
      id: ids.next('msg'),
      applicationId: audience.applicationId,
      eventType: publication.eventType,
      payload: publication.payload,
      createdAt: clock.now(),
    };
    if (eventId !== undefined) message.eventId = eventId;
    if (channels !== undefined) message.channels = channels;
    if (tags !== undefined) message.tags = tags;
    if (headers !== undefined) message.headers = headers;
    if (contentType !== undefined) message.contentType = contentType;
    return message;
  }

  #fanOut(message: Message, audience: Audience, remember?: Remembered): FannedOut {
    const { ids, clock } = this.#options;
    const handedAt = clock.now();
    const deliveries: NewDelivery[] = [];
    for (const target of audience.targets.values()) {
      if (!matches(target, message)) continue;
      const state = this.#firstState(target, message.payload.length);
      const delivery = { id: ids.next('dlv'), destinationId: target.endpoint.id, state };
      if (state === 'leased') this.#options.handOffs.add(handedAt);
      deliveries.push(delivery);
    }
    const { fanoutRevision } = audience;
    return remember === undefined
      ? { message, fanoutRevision, deliveries, handedAt }
      : { message, fanoutRevision, deliveries, handedAt, remember };
  }

  #firstState(target: Target, bytes: number): NewDelivery['state'] {
    if (target.health.status !== 'active') return 'held';
    if (!this.#isMine(target.endpoint.id)) return 'pending';
    if (this.#isCarried(target.endpoint.id)) return 'pending';
    return this.#options.lanes.reserve(target.endpoint, bytes) ? 'leased' : 'pending';
  }

  /** A handler's deliveries are for the nodes that have the function, all are for nodes that take work. */
  #isMine(destinationId: string): boolean {
    const { takesWork, handlers } = this.#options;
    return takesWork && (!isHandler(destinationId) || handlers.has(destinationId));
  }

  #isCarried(destinationId: string): boolean {
    return this.#options.dispatch.carries && !isHandler(destinationId);
  }

  #handOff(item: FannedOut, epoch: number, fenced: boolean): void {
    const { lanes } = this.#options;
    const { message } = item;
    for (const { id, destinationId, state } of item.deliveries) {
      if (state === 'pending') this.#leave(id, destinationId, message);
      if (state !== 'leased') continue;
      if (fenced) {
        this.#giveBack(destinationId, item);
        continue;
      }
      this.#options.onHandedOff();
      const delivery: { -readonly [K in keyof ClaimedDelivery]: ClaimedDelivery[K] } = {
        id,
        messageId: message.id,
        applicationId: message.applicationId,
        destinationId,
        eventType: message.eventType,
        trigger: 'scheduled',
        attempts: 0,
        scheduleAttempts: 0,
        firstAttemptAt: undefined,
        dueAt: message.createdAt,
        createdAt: message.createdAt,
        payload: message.payload,
      };
      if (isSource(message.applicationId)) delivery.received = message;
      lanes.startReserved({ epoch, handedAt: item.handedAt, delivery }, message.payload.length);
    }
  }

  #leave(deliveryId: string, destinationId: string, { createdAt }: Message): void {
    const { dispatch, lanes } = this.#options;
    if (this.#isCarried(destinationId)) dispatch.offer([{ deliveryId, destinationId, attempts: 0, dueAt: createdAt }]);
    else if (this.#isMine(destinationId)) lanes.leave(destinationId);
  }

  #unreserve(item: FannedOut): void {
    for (const { destinationId, state } of item.deliveries) {
      if (state === 'leased') this.#giveBack(destinationId, item);
    }
  }

  /** The promised place is not needed: nothing was leased. */
  #giveBack(destinationId: string, { message, handedAt }: FannedOut): void {
    this.#options.handOffs.delete(handedAt);
    this.#options.lanes.unreserve(destinationId, message.payload.length);
  }

  async #commit(items: readonly AcceptItem[]): Promise<Committed[]> {
    const { store, clock } = this.#options;
    const epoch = this.#options.epoch();
    const { results, fenced } = await store.accept({ epoch, now: clock.now(), items });
    if (fenced) this.#options.onFenced();
    return results.map((result) => ({ result, epoch, fenced }));
  }
}

/** Event types and channels as the endpoint asks; an endpoint with channels gets only messages that name one of them. */
function matches(target: Target, message: Message): boolean {
  const { eventTypes, channels } = target.endpoint;
  if (eventTypes !== undefined && !eventTypes.includes(message.eventType)) return false;
  return channels === undefined || (message.channels?.some((channel) => channels.includes(channel)) ?? false);
}

function isSource(application: string): boolean {
  return application.startsWith('src_');
}

function noOwner(application: string): PosthornError {
  if (isSource(application)) {
    return new PosthornError('not_found', `There is no source ${application}: it may have been deleted a moment ago.`);
  }
  return new PosthornError(
    'not_found',
    `There is no application ${application}. Create it first (POST /api/v1/app), or check the id or uid.`,
  );
}
