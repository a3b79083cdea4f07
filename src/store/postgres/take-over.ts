import { type ClaimedRow, toClaimed } from '../rows.ts';
import type { ClaimedDelivery } from '../store.ts';
import { type Db, statement, type Tx } from './driver.ts';
import { exclude, share } from './locks.ts';
import { forgetNode, isAlive } from './nodes.ts';

const EXPIRED_NODES = statement(
  'expired_nodes',
  'SELECT epoch FROM nodes WHERE expires_at <= $1 AND epoch <> $2 ORDER BY epoch',
);
// An expired node is fenced for good the moment somebody takes over from it; one that beat meanwhile is not expired.
const FENCE = statement('fence', 'UPDATE nodes SET expires_at = 0 WHERE epoch = $1 AND expires_at <= $2');
// What it claimed, then what it was handed. Without payloads: what is taken over is decided on, not sent.
const TAKE = statement(
  'take_over',
  `WITH claimed AS (SELECT id FROM deliveries WHERE claimed_by = $3 ORDER BY id LIMIT $4 FOR UPDATE),
  handed AS (
    SELECT id FROM deliveries
    WHERE id >= (SELECT handed_from FROM nodes WHERE epoch = $3) AND due_at IS NULL AND state = 'leased' AND lease_epoch = $3
    ORDER BY id LIMIT $4 FOR UPDATE)
  UPDATE deliveries SET lease_epoch = $1, updated_at = $2, due_at = coalesce(due_at, created_at)
  WHERE state = 'leased' AND lease_epoch = $3
    AND id = ANY(ARRAY(SELECT id FROM claimed UNION ALL SELECT id FROM handed LIMIT $4))
  RETURNING *, NULL AS payload`,
);

export async function takeOver(
  db: Db,
  input: { epoch: number; now: number; limit: number },
): Promise<ClaimedDelivery[]> {
  const now = db.serverClock.toServer(input.now);
  // Asked at every beat, and nearly always for nothing.
  if ((await db.all(EXPIRED_NODES, now, input.epoch)).length === 0) return [];
  return db.transaction(
    async (tx) => {
      const [alive, expired] = await Promise.all([
        isAlive(tx, input.epoch),
        tx.all<{ epoch: number }>(EXPIRED_NODES, now, input.epoch),
      ]);
      if (!alive) return [];
      const taken: ClaimedRow[] = [];
      for (const node of expired) {
        const room = input.limit - taken.length;
        if (room <= 0) break;
        if (!(await fence(db, tx, node.epoch, now))) continue;
        const rows = await tx.all<ClaimedRow>(TAKE, input.epoch, input.now, node.epoch, room);
        taken.push(...rows.sort((a, b) => (a.id < b.id ? -1 : 1)));
        if (rows.length < room) await forgetNode(tx, node.epoch);
      }
      return taken.map(toClaimed);
    },
    share(db, { kind: 'node', id: input.epoch }),
  );
}

/** Waits for what the node, late as it is, is leasing, and for another one that takes over from it. */
async function fence(db: Db, tx: Tx, epoch: number, now: number): Promise<boolean> {
  const [, fenced] = await Promise.all([
    tx.all({ text: `SELECT ${exclude(db, { kind: 'node', id: epoch })}` }),
    tx.run(FENCE, epoch, now),
  ]);
  return fenced === 1;
}
