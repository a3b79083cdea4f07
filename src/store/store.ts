/**
 * The store's port: what the engine and the API ask of a database, and nothing of how.
 *
 * Cut at operations, batched and fenced. Every operation is one transaction, durable when its promise resolves, and
 * takes `now` from its caller: the caller's clock counts, never the database's, but for the leases of nodes that share a
 * database and may disagree about the time. No SQL, connection or transaction
 * crosses this line. A method's name is also the file name in each adapter and the `describe` in the conformance suite.
 */
import type { Attempt, Delivery, EndpointHealth, Message } from '../model/index.ts';
import type { AcceptInput, AcceptOutput, KeepAnswerInput, RelayInput, RelayOutput, Remembered } from './accepting.ts';
import type { GroupInput, GroupPage, PurgeItem, RestoreInput, RestoreResult } from './dead-letters.ts';
import type {
  Beat,
  ClaimedDelivery,
  ClaimInput,
  ClaimOutput,
  HeartbeatInput,
  Joined,
  JoinInput,
  LeaseInput,
  LeaseOutput,
} from './leasing.ts';
import type { AttemptFilter, Counts, DeliveryFilter, MessageFilter, Page, PageInput } from './queries.ts';
import type {
  RecordInput,
  RecordOutput,
  SetStatusInput,
  TransactInput,
  TransactOutput,
  TransactWork,
} from './recording.ts';
import type { GetInput, InsertInput, ListInput, RecordKind, Stored, UpdateInput } from './records.ts';
import type { AddDeliveryInput, DiscardInput, RedeliverInput, SelectionOutput } from './selecting.ts';

export type * from './accepting.ts';
export type * from './dead-letters.ts';
export type * from './leasing.ts';
export type * from './queries.ts';
export type * from './recording.ts';
export type * from './records.ts';
export type * from './selecting.ts';

export interface Store {
  /** Whether no other process can write to it: then what was read once stays true until this one changes it. */
  readonly soleProcess: boolean;
  /**
   * How many batches of a kind it wants at the same time: more than one where it gathers by itself what waits for a commit,
   * and need not wait for us in between; one where each would be a commit of its own.
   */
  readonly batchesAtOnce: number;

  /** Joins as a node: the epoch that comes back is the token under which deliveries are leased to it. */
  join(input: JoinInput): Promise<Joined>;
  /**
   * Extends the node's lease. `leading`: it is alive, and of the nodes whose lease runs the one with the lowest epoch; `alone`:
   * it is the only one. `fenced` means that others may have taken its deliveries over: join again.
   */
  heartbeat(input: HeartbeatInput): Promise<Beat>;
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
  /**
   * Leases due deliveries, lane by lane, within `maxBytes` of payloads. Its cost depends on what it hands out, never on the
   * backlog.
   */
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
  /**
   * Moves one bounded chunk of deliveries to where their endpoint's status wants them. Call again until `idle`. The last
   * chunk of a deleted endpoint takes its lane with it.
   */
  sweep(input: { now: number; limit: number }): Promise<{ idle: boolean; destinationId?: string; moved: number }>;
  /** Makes finished or held deliveries due now with a new schedule, by hand. Held when the endpoint is stopped. */
  redeliver(input: RedeliverInput): Promise<SelectionOutput>;
  /** Gives an existing message one more destination, by hand. */
  addDelivery(input: AddDeliveryInput): Promise<'added' | 'exists' | 'missing'>;
  /** Gives dead letters up: cancelled, with the reason kept. */
  discard(input: DiscardInput): Promise<SelectionOutput>;
  /** Brings dead letters back from an archive, each whole or not at all. One result per item, in order. */
  restore(input: RestoreInput): Promise<RestoreResult[]>;
  /** Deletes dead letters with their attempts, and a message with its last delivery. Answers which it took. */
  purge(input: { items: readonly PurgeItem[] }): Promise<{ ids: readonly string[] }>;

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
  /**
   * Keeps an answer that no commit of its own brings along. Answers the one that the key has already, and writes nothing
   * then unless it `replaces` it.
   */
  keepAnswer(input: KeepAnswerInput): Promise<Remembered | undefined>;
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
  counts(input: { most: number; untakenBefore?: number }): Promise<Counts>;
  /**
   * Calls back with what other nodes did, soon after they did it; returns the way to stop. News can be lost (a broken
   * connection): `work` and `changed` without an id then say that anything may have happened.
   */
  watch(listener: (news: News) => void): () => void;
  close(): Promise<void>;
}

/** What another node did that this one may want to act on. */
export type News =
  /** Deliveries are due that nobody has leased. `unqueued`: moved by a person, so that no queue was told of them. */
  | { readonly kind: 'work'; readonly unqueued?: true }
  /** Endpoints, their status or a policy changed: of this application, or of any. */
  | { readonly kind: 'changed'; readonly applicationId?: string };

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
