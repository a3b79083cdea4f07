import type { Db } from './driver.ts';
import { DueLanes } from './lanes.ts';

const NEXT_LANE = 'SELECT destination_id, sweep FROM lanes WHERE sweep IS NOT NULL LIMIT 1';
const DONE = 'UPDATE lanes SET sweep = NULL WHERE destination_id = ?';
// Nothing is accepted, tried or sent again for a deleted endpoint: its lane cannot come back.
const GONE = 'DELETE FROM lanes WHERE destination_id = ?';

const CHUNKS = {
  hold: `
    UPDATE deliveries SET state = 'held', updated_at = ?3, reason = 'held: its endpoint is stopped'
    WHERE id IN (SELECT id FROM deliveries WHERE destination_id = ?1 AND state = 'pending' ORDER BY due_at, id LIMIT ?2)
    RETURNING due_at`,
  unhold: `
    UPDATE deliveries SET state = 'pending', updated_at = ?3, due_at = coalesce(due_at, created_at), reason = 'released: its endpoint is active again'
    WHERE id IN (SELECT id FROM deliveries WHERE destination_id = ?1 AND state = 'held' ORDER BY id LIMIT ?2)
    RETURNING due_at`,
  cancel: `
    UPDATE deliveries SET state = 'cancelled', updated_at = ?3, reason = 'its endpoint was deleted'
    WHERE id IN (
      SELECT id FROM deliveries WHERE destination_id = ?1 AND state = 'pending'
      UNION ALL SELECT id FROM deliveries WHERE destination_id = ?1 AND state = 'held'
      LIMIT ?2)
    RETURNING due_at`,
} as const;

export function sweep(
  db: Db,
  input: { now: number; limit: number },
): { idle: boolean; destinationId?: string; moved: number } {
  const lane = db.get<{ destination_id: string; sweep: keyof typeof CHUNKS }>(NEXT_LANE);
  if (lane === undefined) return { idle: true, moved: 0 };
  const moved = db.all<{ due_at: number | null }>(CHUNKS[lane.sweep], lane.destination_id, input.limit, input.now);
  if (lane.sweep === 'unhold') {
    const lanes = new DueLanes();
    for (const row of moved) lanes.note(lane.destination_id, row.due_at ?? input.now);
    lanes.write(db);
  }
  if (moved.length < input.limit) db.run(lane.sweep === 'cancel' ? GONE : DONE, lane.destination_id);
  return { idle: false, destinationId: lane.destination_id, moved: moved.length };
}
