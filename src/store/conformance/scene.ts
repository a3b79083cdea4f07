/** One application, one node and short words for what tests do with them. Time stands at T0 unless a test says otherwise. */
import type {
  Application,
  Attempt,
  Decision,
  Delivery,
  Endpoint,
  ErrorKind,
  Message,
  Source,
} from '../../model/index.ts';
import type {
  AcceptItem,
  AcceptResult,
  ClaimedDelivery,
  ClaimOutput,
  DeliveryFilter,
  NewDelivery,
  RecordItem,
  RecordOutput,
  Remembered,
  Store,
} from '../store.ts';
import type { OpenedStore } from './harness.ts';

export const T0 = 1_767_225_600_000;
export const LEASE_MS = 10_000;
export const MINUTE_MS = 60_000;
/** More than any test has: a page or a room without an end. */
export const PLENTY = 10_000;

export interface PublishInput {
  readonly to: readonly string[];
  readonly state?: NewDelivery['state'];
  readonly now?: number;
  readonly epoch?: number;
  readonly message?: Partial<Message>;
  readonly fanoutRevision?: number;
  readonly remember?: Remembered;
}

export interface AttemptInput {
  readonly startedAt?: number;
  readonly durationMs?: number;
  readonly status?: number;
  readonly error?: ErrorKind;
  readonly epoch?: number;
  readonly now?: number;
  readonly firstAttemptAt?: number;
  readonly id?: string;
}

export class Scene {
  #store: Store;
  readonly #opened: OpenedStore;
  #lastId = 0;
  /** The node that claims and records unless a test names another one. */
  epoch = 0;
  applicationId = '';

  private constructor(opened: OpenedStore) {
    this.#opened = opened;
    this.#store = opened.store;
  }

  static async begin(opened: OpenedStore): Promise<Scene> {
    const scene = new Scene(opened);
    scene.applicationId = await scene.application();
    scene.epoch = await scene.join();
    return scene;
  }

  get store(): Store {
    return this.#store;
  }

  async reopen(): Promise<void> {
    if (this.#opened.reopen === undefined) throw new Error('a durable store must have reopen()');
    this.#store = await this.#opened.reopen();
  }

  async lanes(): Promise<readonly string[]> {
    if (this.#opened.lanes === undefined) throw new Error('a durable store must have lanes()');
    return this.#opened.lanes();
  }

  /** Ids rise, as the real ones do. */
  id(prefix: string): string {
    this.#lastId += 1;
    return `${prefix}_${String(this.#lastId).padStart(8, '0')}`;
  }

  async join(now = T0, leaseMs = LEASE_MS): Promise<number> {
    const { epoch } = await this.store.join({ now, leaseMs, name: 'test node' });
    return epoch;
  }

  async application(over: Partial<Application> = {}): Promise<string> {
    const record: Application = {
      id: this.id('app'),
      name: 'Customer',
      metadata: {},
      createdAt: T0,
      updatedAt: T0,
      ...over,
    };
    await this.store.insert({ kind: 'application', record });
    return record.id;
  }

  newSource(over: Partial<Source> = {}): Source {
    return {
      id: this.id('src'),
      name: 'Stripe',
      provider: 'stripe',
      settings: '{}',
      policy: 'payments-inbound',
      onUnknownEvent: 'keep',
      dedupe: { by: 'provider' },
      forwardAs: 'standard-webhooks',
      metadata: {},
      createdAt: T0,
      updatedAt: T0,
      ...over,
    };
  }

  async source(over: Partial<Source> = {}): Promise<string> {
    const record = this.newSource(over);
    await this.store.insert({ kind: 'source', record });
    return record.id;
  }

  /** A destination that only nodes with the function may take from. */
  async handler(sourceId: string, over: Partial<Endpoint> = {}): Promise<string> {
    return this.endpoint({ id: this.id('hdl'), applicationId: sourceId, url: 'handler:test', ...over });
  }

  newEndpoint(over: Partial<Endpoint> = {}): Endpoint {
    return {
      id: this.id('ep'),
      applicationId: this.applicationId,
      url: 'https://customer.example/hooks',
      description: '',
      version: 1,
      metadata: {},
      headers: {},
      secrets: [],
      createdAt: T0,
      updatedAt: T0,
      ...over,
    };
  }

  async endpoint(over: Partial<Endpoint> = {}): Promise<string> {
    const record = this.newEndpoint(over);
    await this.store.insert({ kind: 'endpoint', record });
    return record.id;
  }

  async endpoints(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push(await this.endpoint());
    return ids;
  }

  async fanoutRevision(applicationId = this.applicationId): Promise<number> {
    const kind = applicationId.startsWith('src_') ? 'source' : 'application';
    return (await this.store.get({ kind, idOrName: applicationId }))?.fanoutRevision ?? 0;
  }

  async health(endpointId: string) {
    return (await this.store.get({ kind: 'endpoint', idOrName: endpointId }))?.health;
  }

  async item(input: PublishInput): Promise<AcceptItem> {
    return {
      message: {
        id: this.id('msg'),
        applicationId: this.applicationId,
        eventType: 'invoice.paid',
        payload: new TextEncoder().encode('{"amount":1}'),
        createdAt: input.now ?? T0,
        ...input.message,
      },
      fanoutRevision: input.fanoutRevision ?? (await this.fanoutRevision(input.message?.applicationId)),
      deliveries: input.to.map((destinationId) => ({
        id: this.id('dlv'),
        destinationId,
        state: input.state ?? 'pending',
      })),
      ...(input.remember ? { remember: input.remember } : {}),
    };
  }

  /** Offers one message; answers what the store said. */
  async offer(input: PublishInput): Promise<{ result: AcceptResult; messageId: string; ids: string[] }> {
    const item = await this.item(input);
    const { results } = await this.store.accept({
      epoch: input.epoch ?? this.epoch,
      now: input.now ?? T0,
      items: [item],
    });
    const [result] = results;
    if (result === undefined) throw new Error('accept answered nothing');
    return { result, messageId: item.message.id, ids: item.deliveries.map(({ id }) => id) };
  }

  /** Publishes one message; answers the ids of its deliveries. */
  async publish(input: PublishInput): Promise<string[]> {
    const { result, ids } = await this.offer(input);
    if (result.kind !== 'accepted') throw new Error(`not accepted: ${result.kind}`);
    return ids;
  }

  async publishMany(count: number, input: PublishInput): Promise<string[]> {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push(...(await this.publish(input)));
    return ids;
  }

  claim(
    input: {
      now?: number;
      epoch?: number;
      room?: number;
      discover?: number;
      lanes?: readonly { destinationId: string; room: number }[];
      handlers?: readonly string[];
      maxBytes?: number;
    } = {},
  ): Promise<ClaimOutput> {
    return this.store.claim({
      epoch: input.epoch ?? this.epoch,
      now: input.now ?? T0,
      lanes: input.lanes ?? [],
      discover: { lanes: input.discover ?? PLENTY, room: input.room ?? PLENTY },
      ...(input.handlers ? { handlers: input.handlers } : {}),
      ...(input.maxBytes === undefined ? {} : { maxBytes: input.maxBytes }),
    });
  }

  /** Claims everything due and gives the one delivery that a test is about. */
  async claimOne(id: string, now = T0, epoch = this.epoch): Promise<ClaimedDelivery> {
    const { deliveries } = await this.claim({ now, epoch });
    return only(deliveries, id);
  }

  async takeOver(epoch: number, now: number, limit = PLENTY): Promise<ClaimedDelivery[]> {
    return this.store.takeOver({ epoch, now, limit });
  }

  recordItem(delivery: ClaimedDelivery, decision: Decision, input: AttemptInput = {}): RecordItem {
    const startedAt = input.startedAt ?? T0;
    const attempt: Attempt = {
      id: input.id ?? this.id('atmpt'),
      deliveryId: delivery.id,
      messageId: delivery.messageId,
      applicationId: delivery.applicationId,
      destinationId: delivery.destinationId,
      eventType: delivery.eventType,
      number: delivery.attempts + 1,
      trigger: delivery.trigger,
      url: 'https://customer.example/hooks',
      startedAt,
      durationMs: input.durationMs ?? 100,
      status: input.status ?? (decision.kind === 'delivered' ? 200 : 500),
      response: 'response',
      responseTruncated: false,
      decision,
      ...(input.error ? { error: input.error } : {}),
    };
    return {
      attempt,
      scheduleAttempts: delivery.scheduleAttempts + 1,
      firstAttemptAt: input.firstAttemptAt ?? delivery.firstAttemptAt ?? startedAt,
    };
  }

  record(delivery: ClaimedDelivery, decision: Decision, input: AttemptInput = {}): Promise<RecordOutput> {
    const item = this.recordItem(delivery, decision, input);
    const now = input.now ?? item.attempt.startedAt + item.attempt.durationMs;
    return this.store.record({ epoch: input.epoch ?? this.epoch, now, items: [item] });
  }

  /** A delivery in the dead-letter queue. */
  async deadLetter(endpointId: string, over: Partial<Message> = {}): Promise<string> {
    const [id = ''] = await this.publish({ to: [endpointId], message: over });
    await this.record(await this.claimOne(id), REJECTED);
    return id;
  }

  async delivery(id: string): Promise<Delivery> {
    const delivery = await this.store.getDelivery({ id });
    if (delivery === undefined) throw new Error(`no delivery ${id}`);
    return delivery;
  }

  async state(id: string): Promise<string> {
    return (await this.delivery(id)).state;
  }

  async states(ids: readonly string[]): Promise<string[]> {
    return Promise.all(ids.map((id) => this.state(id)));
  }

  async deliveries(filter: DeliveryFilter = {}): Promise<readonly Delivery[]> {
    return (await this.store.listDeliveries({ ...filter, limit: PLENTY, order: 'ascending' })).items;
  }

  async attempts(deliveryId: string): Promise<readonly Attempt[]> {
    return (await this.store.listAttempts({ deliveryId, limit: PLENTY, order: 'ascending' })).items;
  }

  /** Sweeps until there is nothing left to move; answers how much each call moved. */
  async sweepAll(limit = PLENTY, now = T0): Promise<number[]> {
    const moved: number[] = [];
    for (;;) {
      const step = await this.store.sweep({ now, limit });
      if (step.idle) return moved;
      moved.push(step.moved);
    }
  }
}

export const DELIVERED: Decision = { kind: 'delivered', reason: '200: delivered' };
export const REJECTED: Decision = { kind: 'dead', cause: 'rejected', reason: '400: not retried by this policy' };
export const EXHAUSTED: Decision = { kind: 'dead', cause: 'exhausted', reason: 'attempts exhausted (6 of 6)' };

export function retryIn(delayMs: number): Decision {
  return { kind: 'retry', delayMs, source: 'schedule', reason: `500: retry in ${delayMs} ms` };
}

export function remembered(over: Partial<Remembered> = {}): Remembered {
  return { key: 'key-1', fingerprint: 'f1', status: 202, body: '{"id":"msg_1"}', expiresAt: T0 + MINUTE_MS, ...over };
}

export function ids(list: readonly { readonly id: string }[]): string[] {
  return list.map(({ id }) => id);
}

export function only<T extends { readonly id: string }>(list: readonly T[], id: string): T {
  const found = list.find((each) => each.id === id);
  if (found === undefined) throw new Error(`${id} is not among ${ids(list).join(', ') || 'nothing'}`);
  return found;
}

export function sorted(list: readonly string[]): string[] {
  return list.toSorted((a, b) => (a < b ? -1 : 1));
}
