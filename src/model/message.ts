/** One event with its exact bytes. The bytes are stored once and sent as stored. */
export interface Message {
  readonly id: string;
  /** Its owner: an application, or the source that it came from. */
  readonly applicationId: string;
  /** The publisher's or provider's own id for this event, unique for its owner. */
  readonly eventId?: string;
  readonly eventType: string;
  readonly channels?: readonly string[];
  readonly tags?: readonly string[];
  /** UTF-8 JSON as published, or any bytes as received. Never a slice of a larger buffer, which it would keep in memory. */
  readonly payload: Uint8Array;
  readonly createdAt: number;
  /** What it was received with, names in lower case, without credentials. A published message has none. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  /** How often the same event id came again with other bytes; the first ones are kept. */
  readonly conflicts?: number;
}
