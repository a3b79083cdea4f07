import type { Message } from '../../model/index.ts';
import { MESSAGE_COLUMNS, messageValues } from '../row-values.ts';
import type { AcceptInput, AcceptItem, AcceptOutput, AcceptResult } from '../store.ts';
import { insertInto } from './dialect.ts';
import type { Db } from './driver.ts';
import { goneMessage } from './event-ids.ts';
import { DueLanes } from './lanes.ts';
import { isAlive } from './nodes.ts';
import { fanoutRevision } from './owners.ts';
import { recall, remember } from './remembered.ts';

const BY_EVENT_ID = 'SELECT id FROM messages WHERE application_id = ? AND event_id = ?';
// Only what came again is compared: the hot path reads no payload.
const SAME_PAYLOAD = 'SELECT payload = ? AS same FROM messages WHERE application_id = ? AND id = ?';
const COUNT_CONFLICT = 'UPDATE messages SET conflicts = coalesce(conflicts, 0) + 1 WHERE application_id = ? AND id = ?';
const INSERT_MESSAGE = insertInto('messages', MESSAGE_COLUMNS);
const INSERT_DELIVERY = `
  INSERT INTO deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
    schedule_attempts, due_at, lease_epoch, created_at, updated_at, reason)
  VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?)`;

export function accept(db: Db, input: AcceptInput): AcceptOutput {
  const fenced = !isAlive(db, input.epoch);
  const lanes = new DueLanes();
  const revisions = new Map<string, number | undefined>();
  const results = input.items.map((item): AcceptResult => {
    const refusal = refuse(db, item, input.now, revisions);
    if (refusal !== undefined) return refusal;
    write(db, item, input.now, fenced ? undefined : input.epoch, lanes);
    return { kind: 'accepted' };
  });
  lanes.write(db);
  return { fenced, results };
}

function refuse(
  db: Db,
  item: AcceptItem,
  now: number,
  revisions: Map<string, number | undefined>,
): AcceptResult | undefined {
  const { applicationId, eventId } = item.message;
  if (!revisions.has(applicationId)) {
    revisions.set(applicationId, fanoutRevision(db, applicationId));
  }
  const revision = revisions.get(applicationId);
  if (revision === undefined) return { kind: 'missing' };
  if (item.remember !== undefined) {
    const remembered = recall(db, { key: item.remember.key, now });
    if (remembered !== undefined) return { kind: 'duplicate', by: 'key', remembered };
  }
  if (eventId !== undefined) {
    const known = db.get<{ id: string }>(BY_EVENT_ID, applicationId, eventId);
    if (known !== undefined) return duplicate(db, item, known.id);
    const gone = goneMessage(db, applicationId, eventId);
    if (gone !== undefined) return { kind: 'duplicate', by: 'eventId', messageId: gone, samePayload: false };
  }
  return revision === item.fanoutRevision ? undefined : { kind: 'stale' };
}

function duplicate(db: Db, { message }: AcceptItem, messageId: string): AcceptResult {
  const { applicationId, payload } = message;
  const samePayload = db.get<{ same: number }>(SAME_PAYLOAD, payload, applicationId, messageId)?.same === 1;
  if (!samePayload) db.run(COUNT_CONFLICT, applicationId, messageId);
  return { kind: 'duplicate', by: 'eventId', messageId, samePayload };
}

function write(db: Db, item: AcceptItem, now: number, epoch: number | undefined, lanes: DueLanes): void {
  const { message } = item;
  insertMessage(db, message);
  for (const delivery of item.deliveries) {
    const state = delivery.state === 'leased' && epoch === undefined ? 'pending' : delivery.state;
    db.run(
      INSERT_DELIVERY,
      delivery.id,
      message.id,
      message.applicationId,
      delivery.destinationId,
      message.eventType,
      state,
      'scheduled',
      now,
      state === 'leased' ? (epoch ?? null) : null,
      now,
      now,
      state === 'held' ? 'accepted while the endpoint was stopped' : 'accepted',
    );
    if (state === 'pending') lanes.note(delivery.destinationId, now);
  }
  if (item.remember !== undefined) remember(db, item.remember);
}

export function insertMessage(db: Db, message: Message): void {
  db.run(INSERT_MESSAGE, ...messageValues(message));
}
