/** One event with its exact bytes. The bytes are stored once and sent as stored. */
export interface Message {
  readonly id: string;
  readonly applicationId: string;
  /** The publisher's own id for this event, unique in the application. */
  readonly eventId?: string;
  readonly eventType: string;
  readonly channels?: readonly string[];
  readonly tags?: readonly string[];
  /** UTF-8 JSON as published. A view over its own buffer, never a slice of a pool: it crosses threads. */
  readonly payload: Uint8Array;
  readonly createdAt: number;
}
