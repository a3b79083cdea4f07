import { type ClaimedRow, toClaimed } from '../rows.ts';
import type { ClaimedDelivery } from '../store.ts';
import type { Db } from './driver.ts';
import { forgetNode, isAlive } from './nodes.ts';

const EXPIRED_NODES = 'SELECT epoch FROM nodes WHERE expires_at <= ? AND epoch <> ? ORDER BY epoch';
// An expired node is fenced for good the moment somebody takes over from it.
const FENCE = 'UPDATE nodes SET expires_at = 0 WHERE epoch = ?';
// Without payloads: what is taken over is decided on, not sent.
const CLAIMED = `
  SELECT *, x'' AS payload FROM deliveries WHERE lease_epoch = ? AND state = 'leased' AND due_at IS NOT NULL
  ORDER BY id LIMIT ?`;
// What it was handed is in no index by its lease: read in the order of ids, from where its last beat told.
const HANDED = `
  SELECT *, x'' AS payload FROM deliveries
  WHERE id >= (SELECT handed_from FROM nodes WHERE epoch = ?1) AND lease_epoch = ?1 AND state = 'leased' AND due_at IS NULL
  ORDER BY id LIMIT ?2`;
// The next call need not read again what this one has been through.
const MOVE_MARK = 'UPDATE nodes SET handed_from = ? WHERE epoch = ?';
const TAKE = `
  UPDATE deliveries SET lease_epoch = ?, updated_at = ?, due_at = coalesce(due_at, created_at)
  WHERE id = ? AND state = 'leased'`;

export function takeOver(db: Db, input: { epoch: number; now: number; limit: number }): ClaimedDelivery[] {
  if (!isAlive(db, input.epoch)) return [];
  const taken: ClaimedDelivery[] = [];
  for (const node of db.all<{ epoch: number }>(EXPIRED_NODES, input.now, input.epoch)) {
    const room = input.limit - taken.length;
    if (room <= 0) break;
    db.run(FENCE, node.epoch);
    const rows = leasedTo(db, node.epoch, room);
    for (const row of rows) {
      db.run(TAKE, input.epoch, input.now, row.id);
      taken.push(toClaimed(row));
    }
    if (rows.length < room) forgetNode(db, node.epoch);
  }
  return taken;
}

function leasedTo(db: Db, epoch: number, limit: number): ClaimedRow[] {
  const claimed = db.all<ClaimedRow>(CLAIMED, epoch, limit);
  if (claimed.length === limit) return claimed;
  const handed = db.all<ClaimedRow>(HANDED, epoch, limit - claimed.length);
  const last = handed.at(-1);
  if (last !== undefined) db.run(MOVE_MARK, last.id, epoch);
  return [...claimed, ...handed].sort((a, b) => (a.id < b.id ? -1 : 1));
}
