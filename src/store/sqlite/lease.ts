import { type ClaimedRow, toClaimed } from '../rows.ts';
import type { ClaimedDelivery, LeaseInput, LeaseOutput } from '../store.ts';
import type { Db } from './driver.ts';
import { isAlive } from './nodes.ts';
import { OF_MESSAGE } from './of-message.ts';

const BYTES = `
  SELECT length(m.payload) AS bytes FROM deliveries d
  JOIN messages m ON m.application_id = d.application_id AND m.id = d.message_id
  JOIN endpoints e ON e.id = d.destination_id AND e.status = 'active'
  WHERE d.id = ? AND d.state = 'pending' AND d.due_at <= ?`;
// The lane's row is left as it is: whoever looks at it next finds its true due time.
const LEASE = `
  UPDATE deliveries SET state = 'leased', lease_epoch = ?1
  WHERE id = ?2 AND state = 'pending' AND due_at <= ?3
    AND EXISTS (SELECT 1 FROM endpoints e WHERE e.id = destination_id AND e.status = 'active')
  RETURNING *, ${OF_MESSAGE}`;

const EARLY = "SELECT id, due_at AS dueAt FROM deliveries WHERE id = ? AND state = 'pending' AND due_at > ?";

export function lease(db: Db, input: LeaseInput): LeaseOutput {
  if (!isAlive(db, input.epoch)) return { fenced: true, left: [], early: [], deliveries: [] };
  const deliveries: ClaimedDelivery[] = [];
  const left: string[] = [];
  const early: { id: string; dueAt: number }[] = [];
  let room = input.maxBytes ?? Number.MAX_SAFE_INTEGER;
  for (const id of new Set(input.ids)) {
    const bytes = db.get<{ bytes: number }>(BYTES, id, input.now)?.bytes;
    if (bytes === undefined) {
      const later = db.get<{ id: string; dueAt: number }>(EARLY, id, input.now);
      if (later !== undefined) early.push(later);
      continue;
    }
    if (left.length > 0 || (bytes > room && deliveries.length > 0)) {
      left.push(id);
      continue;
    }
    const row = db.get<ClaimedRow>(LEASE, input.epoch, id, input.now);
    if (row !== undefined) deliveries.push(toClaimed(row));
    room -= bytes;
  }
  return { fenced: false, left, early, deliveries };
}
