import { type ClaimedRow, toClaimed } from '../rows.ts';
import type { ClaimedDelivery } from '../store.ts';
import type { Db } from './driver.ts';
import { forgetNode, isAlive } from './nodes.ts';

const EXPIRED_NODES = 'SELECT epoch FROM nodes WHERE expires_at <= ? AND epoch <> ? ORDER BY epoch';
// An expired node is fenced for good the moment somebody takes over from it.
const FENCE = 'UPDATE nodes SET expires_at = 0 WHERE epoch = ?';
// Without payloads: what is taken over is decided on, not sent.
const LEASED = `
  SELECT *, x'' AS payload FROM deliveries WHERE lease_epoch = ? AND state = 'leased' ORDER BY id LIMIT ?`;
const TAKE = "UPDATE deliveries SET lease_epoch = ?, updated_at = ? WHERE id = ? AND state = 'leased'";

export function takeOver(db: Db, input: { epoch: number; now: number; limit: number }): ClaimedDelivery[] {
  if (!isAlive(db, input.epoch)) return [];
  const taken: ClaimedDelivery[] = [];
  for (const node of db.all<{ epoch: number }>(EXPIRED_NODES, input.now, input.epoch)) {
    const room = input.limit - taken.length;
    if (room <= 0) break;
    db.run(FENCE, node.epoch);
    const rows = db.all<ClaimedRow>(LEASED, node.epoch, room);
    for (const row of rows) {
      db.run(TAKE, input.epoch, input.now, row.id);
      taken.push(toClaimed(row));
    }
    if (rows.length < room) forgetNode(db, node.epoch);
  }
  return taken;
}
