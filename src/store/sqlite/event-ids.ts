/** The ids of events. Those of received ones outlive their messages: providers retry for days, and retention may be one. */
import type { Message } from '../../model/index.ts';
import type { Db, RowsStatement, SqlValue } from './driver.ts';

const KEEP = `
  INSERT OR REPLACE INTO event_ids (application_id, event_id, message_id, received_at)
  SELECT application_id, event_id, id, created_at FROM messages
  WHERE application_id = ? AND id = ? AND event_id IS NOT NULL AND substr(application_id, 1, 4) = 'src_'`;
// CROSS JOIN: what was asked for first, each by its index.
const FIND: RowsStatement = {
  text: (rows) => `
    WITH asked (application_id, event_id) AS (VALUES ${rows})
    SELECT asked.application_id AS applicationId, asked.event_id AS eventId, m.id AS messageId, 0 AS isGone
    FROM asked CROSS JOIN messages m ON m.application_id = asked.application_id AND m.event_id = asked.event_id
    UNION ALL
    SELECT asked.application_id, asked.event_id, k.message_id, 1
    FROM asked CROSS JOIN event_ids k ON k.application_id = asked.application_id AND k.event_id = asked.event_id`,
  row: '(?, ?)',
};
const TAKE_BACK = 'DELETE FROM event_ids WHERE application_id = ? AND event_id = ? AND message_id = ?';
const FORGET = `
  DELETE FROM event_ids WHERE (application_id, event_id) IN (
    SELECT application_id, event_id FROM event_ids WHERE received_at <= ? ORDER BY received_at LIMIT ?)`;

/** Before its message is deleted. */
export function keepEventId(db: Db, applicationId: string, messageId: string): void {
  db.run(KEEP, applicationId, messageId);
}

interface KnownEvent {
  readonly messageId: string;
  /** The message is no longer there. */
  readonly isGone: boolean;
}

type Event = Pick<Message, 'applicationId' | 'eventId'>;

/** Which events of a batch were there before it, and which have come in it. */
export class KnownEvents {
  readonly #db: Db;
  readonly #before: ReadonlyMap<string, KnownEvent>;
  readonly #added = new Set<string>();

  constructor(db: Db, events: readonly Event[]) {
    this.#db = db;
    this.#before = find(db, events);
  }

  /** Its rows are about to be written. */
  add(event: Event): void {
    if (event.eventId !== undefined) this.#added.add(keyOf(event));
  }

  /** Whether it has come before in this batch: then it is known once the rows are written. */
  isAdded(event: Event): boolean {
    return event.eventId !== undefined && this.#added.has(keyOf(event));
  }

  find(event: Event): KnownEvent | undefined {
    return this.isAdded(event) ? knownEvent(this.#db, event) : this.#before.get(keyOf(event));
  }
}

export function knownEvent(db: Db, event: Event): KnownEvent | undefined {
  return find(db, [event]).get(keyOf(event));
}

function find(db: Db, events: readonly Event[]): ReadonlyMap<string, KnownEvent> {
  const values: SqlValue[] = [];
  for (const { applicationId, eventId } of events) if (eventId !== undefined) values.push(applicationId, eventId);
  const known = new Map<string, KnownEvent>();
  for (const row of db.allForRows<{ applicationId: string; eventId: string; messageId: string; isGone: number }>(
    FIND,
    values,
  )) {
    const isGone = row.isGone === 1;
    // A message that is there counts before one that is gone.
    if (!isGone || !known.has(keyOf(row))) known.set(keyOf(row), { messageId: row.messageId, isGone });
  }
  return known;
}

function keyOf({ applicationId, eventId = '' }: Event): string {
  return `${applicationId} ${eventId}`;
}

/** The message is there again, and has its id itself. */
export function takeBackEventId(db: Db, applicationId: string, eventId: string, messageId: string): void {
  db.run(TAKE_BACK, applicationId, eventId, messageId);
}

export function forgetEventIds(db: Db, receivedBefore: number, limit: number): number {
  return db.run(FORGET, receivedBefore, limit);
}
