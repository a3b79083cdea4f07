/** The ids of received events outlive their messages: providers retry for days, and retention may be one. */
import type { Db } from './driver.ts';

const KEEP = `
  INSERT OR REPLACE INTO event_ids (application_id, event_id, message_id, received_at)
  SELECT application_id, event_id, id, created_at FROM messages
  WHERE application_id = ? AND id = ? AND event_id IS NOT NULL AND substr(application_id, 1, 4) = 'src_'`;
const FIND = 'SELECT message_id AS messageId FROM event_ids WHERE application_id = ? AND event_id = ?';
const TAKE_BACK = 'DELETE FROM event_ids WHERE application_id = ? AND event_id = ? AND message_id = ?';
const FORGET = `
  DELETE FROM event_ids WHERE (application_id, event_id) IN (
    SELECT application_id, event_id FROM event_ids WHERE received_at <= ? ORDER BY received_at LIMIT ?)`;

/** Before its message is deleted. */
export function keepEventId(db: Db, applicationId: string, messageId: string): void {
  db.run(KEEP, applicationId, messageId);
}

/** The message that had this id and is gone. */
export function goneMessage(db: Db, applicationId: string, eventId: string): string | undefined {
  return db.get<{ messageId: string }>(FIND, applicationId, eventId)?.messageId;
}

/** The message is there again, and has its id itself. */
export function takeBackEventId(db: Db, applicationId: string, eventId: string, messageId: string): void {
  db.run(TAKE_BACK, applicationId, eventId, messageId);
}

export function forgetEventIds(db: Db, receivedBefore: number, limit: number): number {
  return db.run(FORGET, receivedBefore, limit);
}
