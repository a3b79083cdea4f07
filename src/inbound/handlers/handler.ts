/** A handler as its author sees it. */
import type { Logger } from '../../engine/index.ts';
import type { TransactClient } from '../../store/index.ts';

export type Handler<E = unknown> = (event: E, context: HandlerContext) => unknown;

export interface HandlerContext {
  /** The provider's id of the event: the same in every attempt and every copy. What you write, write under it. */
  readonly eventId: string;
  /** The same, by the name that APIs give it. */
  readonly idempotencyKey: string;
  readonly eventType: string;
  readonly messageId: string;
  readonly deliveryId: string;
  /** 1 for the first attempt, of at most `maxAttempts`. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly receivedAt: number;
  /** What came with it, names in lower case, without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes as they came. */
  readonly body: Uint8Array;
  /** Aborted when the policy's time limit is over or the process stops: hand it to fetch and to your database. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /**
   * With `{ transaction: true }` on PostgreSQL: what is written through it and that the event is processed become true in
   * one commit, so that its effects happen exactly once. Undefined elsewhere.
   */
  readonly transaction?: TransactClient;
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };
