import type { PurgeItem } from '../store.ts';
import { type Db, statement } from './driver.ts';

const DELETE = statement(
  'purge',
  `WITH gone AS (
    DELETE FROM deliveries WHERE id = ANY($1::text[]) AND state = 'dead'
      AND updated_at = coalesce(($2::bigint[])[array_position($1::text[], id)], updated_at)
    RETURNING id, message_id),
  attempts_gone AS (
    DELETE FROM attempts a USING gone WHERE a.message_id = gone.message_id AND a.delivery_id = gone.id)
  SELECT id, message_id FROM gone`,
);
// In a statement of its own: only that one sees which messages have no delivery left.
const DELETE_MESSAGES = statement(
  'purge_messages',
  `WITH gone AS (
    DELETE FROM messages WHERE id = ANY($1::text[])
      AND NOT EXISTS (SELECT 1 FROM deliveries WHERE message_id = messages.id)
    RETURNING application_id, event_id)
  DELETE FROM event_ids e USING gone WHERE e.application_id = gone.application_id AND e.event_id = gone.event_id
    -- A provider may still send a received event again: its id goes later, by the upkeep.
    AND left(e.application_id, 4) <> 'src_'`,
);

export function purge(db: Db, input: { items: readonly PurgeItem[] }): Promise<{ ids: readonly string[] }> {
  const ids = input.items.map(({ id }) => id);
  const times = input.items.map(({ updatedAt = null }) => updatedAt);
  return db.transaction(async (tx) => {
    const rows = await tx.all<{ id: string; message_id: string }>(DELETE, ids, times);
    const messages = [...new Set(rows.map((row) => row.message_id))];
    await Promise.all([tx.run(DELETE_MESSAGES, messages), tx.commit()]);
    const gone = new Set(rows.map(({ id }) => id));
    return { ids: ids.filter((id) => gone.has(id)) };
  });
}
