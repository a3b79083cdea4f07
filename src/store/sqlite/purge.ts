import { FINAL_STATES } from '../../model/index.ts';
import type { Db } from './driver.ts';
import { keepEventId } from './event-ids.ts';

const FINAL = [...FINAL_STATES].map((state) => `'${state}'`).join(', ');
const DELETE = `
  DELETE FROM deliveries WHERE id = ? AND state IN (${FINAL}) RETURNING message_id, application_id`;
const DELETE_ATTEMPTS = 'DELETE FROM attempts WHERE message_id = ? AND delivery_id = ?';
const HAS_DELIVERY = 'SELECT 1 AS found FROM deliveries WHERE message_id = ? LIMIT 1';
const DELETE_MESSAGE = 'DELETE FROM messages WHERE application_id = ? AND id = ?';

export function purge(db: Db, input: { ids: readonly string[] }): { ids: readonly string[] } {
  const ids = input.ids.filter((id) => {
    const row = db.get<{ message_id: string; application_id: string }>(DELETE, id);
    if (row === undefined) return false;
    db.run(DELETE_ATTEMPTS, row.message_id, id);
    if (db.get(HAS_DELIVERY, row.message_id) === undefined) {
      keepEventId(db, row.application_id, row.message_id);
      db.run(DELETE_MESSAGE, row.application_id, row.message_id);
    }
    return true;
  });
  return { ids };
}
