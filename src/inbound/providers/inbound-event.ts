import { createHash } from 'node:crypto';
import { invalid } from '../../errors.ts';

export interface InboundEvent {
  /**
   * The provider's own id, the same on each of its retries, of any length and characters. Absent: it has none, and the body must
   * tell repeats.
   */
  readonly id?: string;
  /** The provider's own name, as `eventTypeName` writes it. */
  readonly type: string;
  readonly createdAt?: number;
  /** What the signature covers where it does not cover the event: it may come again with the same body, and no other. */
  readonly onceToken?: string;
}

const LONGEST_TYPE = 256;
const ODD_IN_TYPE = /[^a-zA-Z0-9\-_.]/;

/** An event type as Posthorn can store and filter it: what is not a letter, digit, `-`, `_` or `.` becomes a dot. */
export function eventTypeName(text: string): string {
  return ODD_IN_TYPE.test(text) ? text.replace(/[^a-zA-Z0-9\-_.]+/g, '.') : text;
}

/** Takes what was found in a request, of whatever kind it is, and refuses what no provider sends. */
export function inboundEvent(found: {
  id?: unknown;
  type: unknown;
  createdAt?: number | undefined;
  onceToken?: string | undefined;
}): InboundEvent {
  const type = typeof found.type === 'string' ? eventTypeName(found.type) : '';
  if (type === '' || type.length > LONGEST_TYPE) {
    throw invalid(
      ['body'],
      'has no event type where this provider puts it: check that the source has the right provider',
    );
  }
  const id = found.id === undefined || found.id === null ? undefined : eventId(found.id);
  const event: { id?: string; type: string; createdAt?: number; onceToken?: string } = { type };
  if (id !== undefined) event.id = id;
  if (found.createdAt !== undefined && Number.isFinite(found.createdAt)) event.createdAt = found.createdAt;
  if (found.onceToken !== undefined) event.onceToken = found.onceToken;
  return event;
}

/** One id for a batch of events: the same events in the same order are the same delivery. None where one of them has none. */
export function batchId(ids: readonly unknown[]): string | undefined {
  if (ids.some((id) => id === undefined || id === null)) return undefined;
  return `batch_${createHash('sha256').update(JSON.stringify(ids)).digest('hex')}`;
}

/** The type of a batch: that of its events where they agree. With the first one's, a handler for another's would miss it. */
export function batchType(types: readonly unknown[]): unknown {
  return new Set(types).size === 1 ? types[0] : 'batch';
}

function eventId(value: unknown): string {
  const id = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof id !== 'string' || id === '') {
    throw invalid(['body'], 'has an event id that is neither a text nor a whole number below 2^53');
  }
  return id;
}
