/** The engine's side of handlers: functions in this process that take received events, behind a port of three words. */
import type { Outcome } from '../model/index.ts';
import type { ClaimedDelivery, TransactClient } from '../store/index.ts';

/** What only received messages have, and a handler or a forward needs. */
export type Received = NonNullable<ClaimedDelivery['received']>;

export interface Handlers {
  /** The destinations that this process has a function for. */
  ids(): readonly string[];
  has(destinationId: string): boolean;
  /** Whether the function writes in the transaction that also records it, where the store has such. */
  isTransactional(destinationId: string): boolean;
  /** Runs the function; answers at once where it does. What it throws is an Outcome, never a rejection. */
  handle(call: HandlerCall): Outcome | Promise<Outcome>;
}

export interface HandlerCall {
  readonly delivery: ClaimedDelivery;
  readonly received: Received;
  /** 1 for the first attempt of the current schedule. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly timeoutMs: number;
  /** Aborted when the engine stops and no longer waits. */
  readonly signal: AbortSignal;
  readonly transaction?: TransactClient;
}

export const NO_HANDLERS: Handlers = {
  ids: () => [],
  has: () => false,
  isTransactional: () => false,
  handle: () => Promise.reject(new Error('this process has no handlers')),
};

/** Whether a destination is a function of some process, rather than a URL that every node can reach. */
export function isHandler(destinationId: string): boolean {
  return destinationId.startsWith('hdl_');
}
