import type { Message } from '../../model/index.ts';
import { MESSAGE_COLUMNS, messageValues } from '../row-values.ts';
import type { AcceptInput, AcceptItem, AcceptOutput, AcceptResult, NewDelivery } from '../store.ts';
import { type Db, insertRows, type RowsStatement, type SqlValue } from './driver.ts';
import { KnownEvents } from './event-ids.ts';
import { DueLanes } from './lanes.ts';
import { isAlive } from './nodes.ts';
import { fanoutRevision } from './owners.ts';
import { recall, remember } from './remembered.ts';

// Only what came again is compared: the hot path reads no payload.
const SAME_PAYLOAD = 'SELECT payload = ? AS same FROM messages WHERE application_id = ? AND id = ?';
const COUNT_CONFLICT = 'UPDATE messages SET conflicts = coalesce(conflicts, 0) + 1 WHERE application_id = ? AND id = ?';
const MESSAGES = insertRows(`messages (${MESSAGE_COLUMNS})`);
// Most have nothing else, and every value that is bound costs.
const PLAIN_MESSAGES = insertRows('messages (id, application_id, event_type, payload, created_at)');
const DELIVERIES = {
  // Without a due time: what is handed over waits for nothing, and is in no index by its lease.
  leased: insertDeliveries('leased', { dueAt: 'NULL', leaseEpoch: '?2', reason: 'accepted' }),
  pending: insertDeliveries('pending', { dueAt: '?1', leaseEpoch: 'NULL', reason: 'accepted' }),
  held: insertDeliveries('held', {
    dueAt: '?1',
    leaseEpoch: 'NULL',
    reason: 'accepted while the endpoint was stopped',
  }),
};

/** `?1` is the time of acceptance. */
function insertDeliveries(
  state: NewDelivery['state'],
  { dueAt, leaseEpoch, reason }: { dueAt: string; leaseEpoch: string; reason: string },
): RowsStatement {
  return insertRows(
    `deliveries (created_at, updated_at, due_at, lease_epoch, state, trigger_kind, attempts, schedule_attempts, reason,
      id, message_id, application_id, destination_id, event_type)`,
    `(?1, ?1, ${dueAt}, ${leaseEpoch}, '${state}', 'scheduled', 0, 0, '${reason}', ?, ?, ?, ?, ?)`,
  );
}

const ACCEPTED: AcceptResult = { kind: 'accepted' };

export function accept(db: Db, input: AcceptInput): AcceptOutput {
  const fenced = !isAlive(db, input.epoch);
  const batch = new Batch(db, input.now, fenced ? undefined : input.epoch);
  const revisions = new Map<string, number | undefined>();
  const events = new KnownEvents(
    db,
    input.items.map(({ message }) => message),
  );
  const results = input.items.map((item): AcceptResult => {
    if (events.isAdded(item.message)) batch.write();
    const refusal = refuse(db, item, input.now, revisions, events);
    if (refusal !== undefined) return refusal;
    batch.add(item);
    events.add(item.message);
    return ACCEPTED;
  });
  batch.write();
  return { fenced, results };
}

function refuse(
  db: Db,
  item: AcceptItem,
  now: number,
  revisions: Map<string, number | undefined>,
  events: KnownEvents,
): AcceptResult | undefined {
  const { applicationId } = item.message;
  if (!revisions.has(applicationId)) {
    revisions.set(applicationId, fanoutRevision(db, applicationId));
  }
  const revision = revisions.get(applicationId);
  if (revision === undefined) return { kind: 'missing' };
  if (item.remember !== undefined) {
    const remembered = recall(db, { key: item.remember.key, now });
    if (remembered !== undefined) return { kind: 'duplicate', by: 'key', remembered };
  }
  const known = events.find(item.message);
  if (known?.isGone) return { kind: 'duplicate', by: 'eventId', messageId: known.messageId, samePayload: false };
  if (known !== undefined) return duplicate(db, item, known.messageId);
  return revision === item.fanoutRevision ? undefined : { kind: 'stale' };
}

function duplicate(db: Db, { message }: AcceptItem, messageId: string): AcceptResult {
  const { applicationId, payload } = message;
  const samePayload = db.get<{ same: number }>(SAME_PAYLOAD, payload, applicationId, messageId)?.same === 1;
  if (!samePayload) db.run(COUNT_CONFLICT, applicationId, messageId);
  return { kind: 'duplicate', by: 'eventId', messageId, samePayload };
}

/** The rows of accepted messages, gathered to be written together. */
class Batch {
  readonly #db: Db;
  readonly #now: number;
  readonly #epoch: number | undefined;
  readonly #lanes = new DueLanes();
  #messages: SqlValue[] = [];
  #plainMessages: SqlValue[] = [];
  #deliveries: Record<NewDelivery['state'], SqlValue[]> = { leased: [], pending: [], held: [] };

  constructor(db: Db, now: number, epoch: number | undefined) {
    this.#db = db;
    this.#now = now;
    this.#epoch = epoch;
  }

  add({ message, deliveries, remember: kept }: AcceptItem): void {
    const { id, applicationId, eventType } = message;
    if (isPlain(message)) this.#plainMessages.push(id, applicationId, eventType, message.payload, message.createdAt);
    else this.#messages.push(...messageValues(message));
    for (const { id: deliveryId, destinationId, state: wanted } of deliveries) {
      const state = wanted === 'leased' && this.#epoch === undefined ? 'pending' : wanted;
      this.#deliveries[state].push(deliveryId, id, applicationId, destinationId, eventType);
      if (state === 'pending') this.#lanes.note(destinationId, this.#now);
    }
    if (kept !== undefined) remember(this.#db, kept);
  }

  write(): void {
    const { leased, pending, held } = this.#deliveries;
    this.#db.runRows(PLAIN_MESSAGES, [], this.#plainMessages);
    this.#db.runRows(MESSAGES, [], this.#messages);
    this.#db.runRows(DELIVERIES.leased, [this.#now, this.#epoch ?? null], leased);
    this.#db.runRows(DELIVERIES.pending, [this.#now], pending);
    this.#db.runRows(DELIVERIES.held, [this.#now], held);
    this.#lanes.write(this.#db);
    this.#messages = [];
    this.#plainMessages = [];
    this.#deliveries = { leased: [], pending: [], held: [] };
  }
}

function isPlain({ eventId, channels, tags, headers, contentType, conflicts }: Message): boolean {
  return (eventId ?? channels ?? tags ?? headers ?? contentType ?? conflicts) === undefined;
}

export function insertMessage(db: Db, message: Message): void {
  db.runRows(MESSAGES, [], messageValues(message));
}
