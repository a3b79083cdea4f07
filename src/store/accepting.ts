/** What goes into `accept` and `relay`, and what comes out. */
import type { Message } from '../model/index.ts';

/** An answer kept under an idempotency key; written in the same commit as what it answers. */
export interface Remembered {
  readonly key: string;
  /** A hash of the request: the same key with another request is refused. */
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
  readonly expiresAt: number;
}

export interface KeepAnswerInput {
  readonly answer: Remembered;
  readonly now: number;
  readonly replaces?: boolean;
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
