/**
 * The store's port: what the engine and the API ask of a database, and nothing of how.
 *
 * Cut at operations, batched and fenced. Every operation is one transaction, durable when its promise resolves, and
 * takes `now` from its caller: the caller's clock counts, never the database's. No SQL, connection or transaction
 * crosses this line. A method's name is also the file name in each adapter and the `describe` in the conformance suite.
 */
import type {
  Application,
  Attempt,
  DeadCause,
  Delivery,
  DeliveryState,
  Endpoint,
  EndpointHealth,
  EndpointStatus,
  ErrorKind,
  EventType,
  Message,
  NamedPolicy,
  Source,
  Token,
} from '../model/index.ts';

export interface Store {
  /** Whether no other process can write to it: then what was read once stays true until this one changes it. */
  readonly soleProcess: boolean;

  /** Joins as a node: the epoch that comes back is the token under which deliveries are leased to it. */
  join(input: JoinInput): Promise<{ epoch: number }>;
  /**
   * Extends the node's lease. `leading`: it is alive, and of the nodes whose lease runs the one with the lowest epoch.
   * `fenced` means that others may have taken its deliveries over: join again.
   */
  heartbeat(input: { epoch: number; now: number; leaseMs: number }): Promise<Beat>;
  /** Ends the node's lease at once; what it still has leased is up for takeOver. */
  leave(input: { epoch: number }): Promise<void>;
  /** Leases to `epoch` what is leased to nodes whose own lease has run out, oldest first; without the payloads. */
  takeOver(input: { epoch: number; now: number; limit: number }): Promise<ClaimedDelivery[]>;

  /** Stores messages with all their deliveries, each message whole or not at all. One result per item, in order. */
  accept(input: AcceptInput): Promise<AcceptOutput>;
  /**
   * Accepts messages that were published inside their callers' own transactions, oldest first; each is gone from there
   * with the commit that accepts it. Stores that nobody else writes to have none.
   */
  relay(input: RelayInput): Promise<RelayOutput>;
  /** Leases due deliveries, lane by lane, within `maxBytes` of payloads. Its cost depends on what it hands out, never on the backlog. */
  claim(input: ClaimInput): Promise<ClaimOutput>;
  /** Leases these deliveries, those of them that are due in an open lane; the others are left out of the answer. */
  lease(input: LeaseInput): Promise<LeaseOutput>;
  /** Writes attempts and moves their deliveries on, where the lease still holds; applies them to endpoint health. */
  record(input: RecordInput): Promise<RecordOutput>;
  /**
   * Runs `work` inside a transaction and records the delivery in the same commit, where the lease still holds: what
   * `work` wrote through the client and that it is delivered become true together, or neither does. Nothing answered:
   * all is rolled back. Only where others can write to the same database; absent elsewhere.
   */
  transact?(input: TransactInput, work: TransactWork): Promise<TransactOutput>;
  /** Gives leased deliveries back, due now, without counting an attempt. */
  release(input: { epoch: number; now: number; ids: readonly string[] }): Promise<void>;

  /** Sets an endpoint's status. Leaving `active` holds its pending deliveries; `active` again releases them. */
  setStatus(input: SetStatusInput): Promise<EndpointHealth | undefined>;
  /** Moves one bounded chunk of deliveries to where their endpoint's status wants them. Call again until `idle`. */
  sweep(input: { now: number; limit: number }): Promise<{ idle: boolean; destinationId?: string; moved: number }>;
  /** Makes finished or held deliveries due now with a new schedule, by hand. Held when the endpoint is stopped. */
  redeliver(input: RedeliverInput): Promise<SelectionOutput>;
  /** Gives an existing message one more destination, by hand. */
  addDelivery(input: AddDeliveryInput): Promise<'added' | 'exists' | 'missing'>;
  /** Gives dead letters up: cancelled, with the reason kept. */
  discard(input: DiscardInput): Promise<SelectionOutput>;
  /** Brings dead letters back from an archive, each whole or not at all. One result per item, in order. */
  restore(input: { items: readonly ArchivedDelivery[] }): Promise<RestoreResult[]>;
  /** Deletes finished deliveries with their attempts, and a message with its last delivery. Answers which it took. */
  purge(input: { ids: readonly string[] }): Promise<{ ids: readonly string[] }>;

  /** `missing`: an endpoint's application or source is not there. `duplicate`: its idempotency key was used already. */
  insert<K extends RecordKind>(input: InsertInput<K>): Promise<'inserted' | 'conflict' | 'missing' | 'duplicate'>;
  get<K extends RecordKind>(input: GetInput<K>): Promise<Stored<K> | undefined>;
  list<K extends RecordKind>(input: ListInput<K>): Promise<Page<Stored<K>>>;
  /** Replaces a record if nobody changed it since `revision`. */
  update<K extends RecordKind>(input: UpdateInput<K>): Promise<'updated' | 'conflict' | 'stale' | 'missing'>;
  /** Removes a record and frees its uid. An endpoint's open deliveries are cancelled, its owner's endpoints removed. */
  remove(input: { kind: RecordKind; id: string; now: number }): Promise<boolean>;

  getMessage(input: { applicationId: string; id: string }): Promise<Message | undefined>;
  listMessages(input: MessageFilter & PageInput): Promise<Page<Message>>;
  getDelivery(input: { id: string }): Promise<Delivery | undefined>;
  listDeliveries(input: DeliveryFilter & PageInput): Promise<Page<Delivery>>;
  /** Dead letters by owner, event type and fingerprint, in the order of their keys. */
  listGroups(input: GroupInput): Promise<GroupPage>;
  getAttempt(input: { messageId: string; id: string }): Promise<Attempt | undefined>;
  listAttempts(input: AttemptFilter & PageInput): Promise<Page<Attempt>>;

  /** The answer that was given under an idempotency key, if it is still remembered. */
  recall(input: { key: string; now: number }): Promise<Remembered | undefined>;
  /** Forgets what has expired, a bounded number at a time. */
  forget(input: { now: number; limit: number }): Promise<{ forgotten: number }>;
  /**
   * What the store needs done now and then, by one node: with `retentionMs`, messages go that are older than it and whose
   * deliveries have all ended well (never one that is open, held or dead). The event ids of received messages stay for at
   * least `eventIdsForMs` after their receipt, whatever takes the message away. Bounded: call again with `next` until it
   * is not there.
   */
  maintain(input: MaintainInput): Promise<MaintainOutput>;
  /** How much is where, for health. Counts stop at `most`, so that asking costs little however much there is. */
  counts(input: { most: number }): Promise<Counts>;
  /**
   * Calls back with what other nodes did, soon after they did it; returns the way to stop. News can be lost (a broken
   * connection): `work` and `changed` without an id then say that anything may have happened.
   */
  watch(listener: (news: News) => void): () => void;
  close(): Promise<void>;
}

export type Beat = 'alive' | 'leading' | 'fenced';

export interface MaintainInput {
  readonly now: number;
  readonly retentionMs?: number;
  /** Without it, event ids need not outlive their messages. */
  readonly eventIdsForMs?: number;
  /** Where the call before this one ended. */
  readonly after?: number;
}

export interface MaintainOutput {
  readonly next?: number;
}

export interface JoinInput {
  readonly now: number;
  readonly leaseMs: number;
  /** Who this is, for a person: host name and process id. */
  readonly name: string;
}

/** An answer kept under an idempotency key; written in the same commit as what it answers. */
export interface Remembered {
  readonly key: string;
  /** A hash of the request: the same key with another request is refused. */
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
  readonly expiresAt: number;
}

export interface NewDelivery {
  readonly id: string;
  readonly destinationId: string;
  /** leased: handed to a sender of this node at once. held: the endpoint is stopped. */
  readonly state: 'pending' | 'leased' | 'held';
}

export interface AcceptItem {
  readonly message: Message;
  /** The owner's fan-out revision by which the deliveries were chosen; another one in the store is `stale`. */
  readonly fanoutRevision: number;
  readonly deliveries: readonly NewDelivery[];
  readonly remember?: Remembered;
}

export interface AcceptInput {
  readonly epoch: number;
  readonly now: number;
  readonly items: readonly AcceptItem[];
}

export type AcceptResult =
  | { readonly kind: 'accepted' }
  /**
   * The message exists already (same event id or idempotency key), or it did and only its event id is kept: nothing was
   * written, but for the count on the message when it came again with other bytes. `samePayload` is false when the bytes
   * are gone.
   */
  | { readonly kind: 'duplicate'; readonly by: 'eventId'; readonly messageId: string; readonly samePayload: boolean }
  | { readonly kind: 'duplicate'; readonly by: 'key'; readonly remembered: Remembered }
  | { readonly kind: 'stale' }
  | { readonly kind: 'missing' };

export interface AcceptOutput {
  /** This node's lease is lost: what it wanted leased was stored as pending. */
  readonly fenced: boolean;
  readonly results: readonly AcceptResult[];
}

export interface RelayInput {
  readonly epoch: number;
  readonly now: number;
  readonly limit: number;
  /** Payload bytes that may be read at once; the oldest message is taken however large it is. No limit without it. */
  readonly maxBytes?: number;
  /** Chooses the destinations; may be asked again for the same messages. Undefined: there is nobody to send it to. */
  readonly fanOut: (messages: readonly Message[]) => Promise<readonly (AcceptItem | undefined)[]>;
}

export interface RelayOutput {
  readonly fenced: boolean;
  /** One for each message of the last `fanOut`. `stale` ones stay where they are; `missing` had no owner any more. */
  readonly results: readonly ('accepted' | 'stale' | 'missing')[];
}

export interface ClaimInput {
  readonly epoch: number;
  readonly now: number;
  /** Lanes that this node knows to have more, with the room it has for each. */
  readonly lanes: readonly { readonly destinationId: string; readonly room: number }[];
  /** How many other lanes with due work to open, and how much to take from each. */
  readonly discover: { readonly lanes: number; readonly room: number };
  /** The handlers that this node has: the lanes of others are left to the nodes that have them. */
  readonly handlers?: readonly string[];
  /**
   * Payload bytes that may be handed out, shared among the lanes so that none takes all of it; one delivery is handed out
   * however large it is. No limit without it.
   */
  readonly maxBytes?: number;
}

/** What a sender needs to make an attempt, without another read. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly messageId: string;
  readonly applicationId: string;
  readonly destinationId: string;
  readonly eventType: string;
  readonly trigger: 'scheduled' | 'manual';
  readonly attempts: number;
  readonly scheduleAttempts: number;
  readonly firstAttemptAt: number | undefined;
  readonly dueAt: number;
  readonly createdAt: number;
  readonly payload: Uint8Array;
}

export interface ClaimOutput {
  readonly fenced: boolean;
  readonly deliveries: readonly ClaimedDelivery[];
  /** Every lane that was looked at, and whether it has more due work now: if so, it is this node's to ask for again. */
  readonly lanes: readonly { readonly destinationId: string; readonly more: boolean }[];
  /** Whether lanes with due work were left unopened for want of room. */
  readonly moreLanes: boolean;
  /** When the next lane becomes due, if any is waiting. */
  readonly nextDueAt: number | undefined;
}

export interface LeaseInput {
  readonly epoch: number;
  readonly now: number;
  readonly ids: readonly string[];
  /** Payload bytes that may be handed out, in the order of the ids; the first is, however large it is. */
  readonly maxBytes?: number;
}

export interface LeaseOutput {
  readonly fenced: boolean;
  /** Due in an open lane, and left pending for want of `maxBytes`. */
  readonly left: readonly string[];
  /** In the order of the ids. */
  readonly deliveries: readonly ClaimedDelivery[];
}

/** What another node did that this one may want to act on. */
export type News =
  /** Deliveries are due that nobody has leased. */
  | { readonly kind: 'work' }
  /** Endpoints, their status or a policy changed: of this application, or of any. */
  | { readonly kind: 'changed'; readonly applicationId?: string };

export interface RecordItem {
  readonly attempt: Attempt;
  /** The delivery's attempts in this schedule, this one included. */
  readonly scheduleAttempts: number;
  readonly firstAttemptAt: number;
  /** How many attempts the policy allows in a schedule. */
  readonly maxAttempts?: number;
}

export interface RecordInput {
  readonly epoch: number;
  readonly now: number;
  readonly items: readonly RecordItem[];
}

export interface TransactInput {
  readonly epoch: number;
  readonly now: () => number;
}

/** A connection of the database's own kind, inside the transaction: for PostgreSQL, what `query` of `pg` does. */
export interface TransactClient {
  query(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly unknown[]; readonly rowCount: number | null }>;
}

export type TransactWork = (client: TransactClient) => Promise<RecordItem | undefined>;

export interface TransactOutput {
  readonly result: 'recorded' | 'lease_lost' | 'rolled_back';
  readonly endpoints: readonly ChangedEndpoint[];
}

export interface RecordOutput {
  readonly results: readonly ('recorded' | 'lease_lost')[];
  /** Endpoints whose health these attempts changed, with the health after the batch. */
  readonly endpoints: readonly ChangedEndpoint[];
}

export interface ChangedEndpoint {
  readonly id: string;
  readonly applicationId: string;
  readonly health: EndpointHealth;
  readonly statusChanged: boolean;
}

export interface SetStatusInput {
  readonly endpointId: string;
  readonly status: EndpointStatus;
  readonly reason: string;
  readonly now: number;
}

/** Chosen deliveries, or those that a filter matches: at most `limit` of them, oldest first. */
export type Selection =
  | { readonly ids: readonly string[] }
  | { readonly filter: DeliveryFilter; readonly limit: number };

export interface RedeliverInput {
  readonly now: number;
  readonly select: Selection;
  /** Only deliveries in these states are taken. */
  readonly from: readonly DeliveryState[];
}

export interface AddDeliveryInput {
  readonly now: number;
  readonly id: string;
  readonly applicationId: string;
  readonly messageId: string;
  readonly destinationId: string;
}

export interface DiscardInput {
  readonly now: number;
  readonly select: Selection;
  readonly reason: string;
}

export interface SelectionOutput {
  readonly ids: readonly string[];
  /** Whether the filter matches more than this call took. */
  readonly more: boolean;
}

/** A dead letter with everything that it takes to bring it back. */
export interface ArchivedDelivery {
  readonly delivery: Delivery;
  readonly message: Message;
  readonly attempts: readonly Attempt[];
}

/**
 * exists: there is a delivery of this id already, or of this message to this destination. missing: its owner is gone.
 * conflict: another message of the owner has the same event id.
 */
export type RestoreResult = 'restored' | 'exists' | 'missing' | 'conflict';

/**
 * One page looks at `limit` groups and counts up to `most` in each, by an index: its cost does not grow with the number
 * of dead letters. A group without a match in the time range is looked at and left out, so a page may be short.
 */
export interface GroupInput extends Pick<DeliveryFilter, 'applicationId' | 'diedAfter' | 'diedBefore'> {
  readonly limit: number;
  readonly most: number;
  /** Where the page before this one ended. */
  readonly after?: GroupKey;
}

export interface GroupKey {
  readonly applicationId: string;
  readonly eventType: string;
  readonly fingerprint: string;
}

export interface DeadLetterGroup extends GroupKey {
  /** Not more than `most`. */
  readonly count: number;
  /** When the first and the last of them died, within the time range. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** The last one of them. */
  readonly example: Delivery;
}

export interface GroupPage {
  readonly groups: readonly DeadLetterGroup[];
  /** Where to go on from; absent when nothing is left. */
  readonly next?: GroupKey;
}

export interface RecordTypes {
  application: Application;
  source: Source;
  endpoint: Endpoint;
  eventType: EventType;
  policy: NamedPolicy;
  token: Token;
}
export type RecordKind = keyof RecordTypes;

/**
 * A record as stored. `revision` rises with every update. `health` is an endpoint's; `fanoutRevision` an application's
 * or a source's: it rises whenever one of its endpoints is added, changed, stopped, resumed or removed.
 */
export interface Stored<K extends RecordKind> {
  readonly record: RecordTypes[K];
  readonly revision: number;
  readonly health: K extends 'endpoint' ? EndpointHealth : undefined;
  readonly fanoutRevision: K extends 'application' | 'source' ? number : undefined;
}

export interface InsertInput<K extends RecordKind> {
  readonly kind: K;
  readonly record: RecordTypes[K];
  /** What an endpoint begins with; active without it. */
  readonly health?: K extends 'endpoint' ? EndpointHealth : undefined;
  readonly remember?: Remembered;
}

/**
 * By id, or by the name that is unique for its kind: an application's, source's or endpoint's uid, an event type's or policy's
 * name, a token's hash. `parentId` limits endpoints to their owner.
 */
export interface GetInput<K extends RecordKind> {
  readonly kind: K;
  readonly idOrName: string;
  readonly parentId?: string;
}

export interface ListInput<K extends RecordKind> extends PageInput {
  readonly kind: K;
  readonly parentId?: string;
}

export interface UpdateInput<K extends RecordKind> {
  readonly kind: K;
  readonly record: RecordTypes[K];
  readonly revision: number;
}

export interface PageInput {
  readonly limit: number;
  readonly order: 'ascending' | 'descending';
  /** The key of the item to go on from, exclusive; backward pages towards the list's start. */
  readonly cursor?: { readonly key: string; readonly direction: 'forward' | 'backward' };
}

export interface Page<T> {
  /** In the list's own order, whichever way it was paged. */
  readonly items: readonly T[];
  /** Nothing is left in the direction of paging. */
  readonly done: boolean;
}

export interface MessageFilter {
  readonly applicationId: string;
  readonly eventTypes?: readonly string[];
  readonly channel?: string;
  readonly tag?: string;
  readonly after?: number;
  readonly before?: number;
}

export interface DeliveryFilter {
  readonly applicationId?: string;
  readonly destinationId?: string;
  readonly messageId?: string;
  readonly states?: readonly DeliveryState[];
  readonly eventTypes?: readonly string[];
  readonly cause?: DeadCause;
  readonly fingerprint?: string;
  /** Text that the last error contains, in whichever case. */
  readonly error?: string;
  /** By the time of creation, as everywhere; exclusive. */
  readonly after?: number;
  readonly before?: number;
  /** By the time of death, exclusive. */
  readonly diedAfter?: number;
  readonly diedBefore?: number;
}

export interface AttemptFilter {
  readonly applicationId?: string;
  readonly messageId?: string;
  readonly destinationId?: string;
  readonly deliveryId?: string;
  readonly outcome?: 'success' | 'failure';
  /** 200 for 2xx, and so on; 0 for attempts without an answer. */
  readonly statusClass?: number;
  readonly error?: ErrorKind;
  readonly eventTypes?: readonly string[];
  readonly after?: number;
  readonly before?: number;
}

export interface Counts {
  readonly pending: number;
  /** Of the pending ones, those that have been tried before. */
  readonly retrying: number;
  readonly leased: number;
  readonly held: number;
  readonly dead: number;
  readonly oldestDueAt: number | undefined;
}
