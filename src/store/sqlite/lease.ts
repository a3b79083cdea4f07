import { type ClaimedRow, toClaimed } from '../rows.ts';
import type { ClaimedDelivery, LeaseOutput } from '../store.ts';
import type { Db } from './driver.ts';
import { isAlive } from './nodes.ts';

// The lane's row is left as it is: whoever looks at it next finds its true due time.
const LEASE = `
  UPDATE deliveries SET state = 'leased', lease_epoch = ?1
  WHERE id = ?2 AND state = 'pending' AND due_at <= ?3
    AND EXISTS (SELECT 1 FROM endpoints e WHERE e.id = destination_id AND e.status = 'active')
  RETURNING *, (SELECT payload FROM messages m WHERE m.application_id = deliveries.application_id AND m.id = message_id) AS payload`;

export function lease(db: Db, input: { epoch: number; now: number; ids: readonly string[] }): LeaseOutput {
  if (!isAlive(db, input.epoch)) return { fenced: true, deliveries: [] };
  const deliveries: ClaimedDelivery[] = [];
  for (const id of input.ids) {
    const row = db.get<ClaimedRow>(LEASE, input.epoch, id, input.now);
    if (row !== undefined) deliveries.push(toClaimed(row));
  }
  return { fenced: false, deliveries };
}
