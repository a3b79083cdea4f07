import type { PurgeItem } from '../store.ts';
import type { Db } from './driver.ts';
import { keepEventId } from './event-ids.ts';

const DELETE = `
  DELETE FROM deliveries WHERE id = ? AND state = 'dead' AND updated_at = coalesce(?, updated_at)
  RETURNING message_id, application_id`;
const DELETE_ATTEMPTS = 'DELETE FROM attempts WHERE message_id = ? AND delivery_id = ?';
const HAS_DELIVERY = 'SELECT 1 AS found FROM deliveries WHERE message_id = ? LIMIT 1';
const DELETE_MESSAGE = 'DELETE FROM messages WHERE application_id = ? AND id = ?';

export function purge(db: Db, input: { items: readonly PurgeItem[] }): { ids: readonly string[] } {
  const ids = input.items.flatMap(({ id, updatedAt = null }) => {
    const row = db.get<{ message_id: string; application_id: string }>(DELETE, id, updatedAt);
    if (row === undefined) return [];
    db.run(DELETE_ATTEMPTS, row.message_id, id);
    if (db.get(HAS_DELIVERY, row.message_id) === undefined) {
      keepEventId(db, row.application_id, row.message_id);
      db.run(DELETE_MESSAGE, row.application_id, row.message_id);
    }
    return [id];
  });
  return { ids };
}
