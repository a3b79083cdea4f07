/** How deliveries come to a node: what goes into `join`, `claim` and `lease`, and what comes out. */
import type { Message } from '../model/index.ts';

export interface JoinInput {
  readonly now: number;
  readonly leaseMs: number;
  /** Who this is, for a person: host name and process id. */
  readonly name: string;
  /** As at a heartbeat. */
  readonly handedFrom?: string;
}

export interface HeartbeatInput {
  readonly epoch: number;
  readonly now: number;
  readonly leaseMs: number;
  /**
   * All that accept has leased to this node, and that is not recorded or released yet, has ids from here on: where to look
   * for it when the node is gone. Without it, what was told last holds.
   */
  readonly handedFrom?: string;
}

export interface Joined {
  readonly epoch: number;
  /** No other node is alive. */
  readonly alone: boolean;
}

/** `leading`: of all that are alive this one does what one does for all. `alone`: it leads, for there is no other. */
export type Beat = 'alive' | 'leading' | 'alone' | 'fenced';

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
  /** What a handler, or whoever it is sent on to, needs beside the payload. Of what a source received only. */
  readonly received?: Pick<Message, 'eventId' | 'headers' | 'contentType'>;
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
  /** Pending, and due only later. */
  readonly early: readonly { readonly id: string; readonly dueAt: number }[];
  /** In the order of the ids. */
  readonly deliveries: readonly ClaimedDelivery[];
}
