import { type ClaimedRow, toClaimed } from '../rows.ts';
import type { LeaseOutput } from '../store.ts';
import { type Db, statement } from './driver.ts';
import { inState } from './in-state.ts';
import { share } from './locks.ts';
import { isAlive } from './nodes.ts';

// The lane's row is left as it is: whoever looks at it next finds its true due time.
const LEASE = statement(
  'lease',
  `WITH leased AS (
    UPDATE deliveries d SET state = 'leased', lease_epoch = $1
    WHERE d.id = ANY($3::text[]) AND ${inState('d', 'pending')} AND d.due_at <= $2
      AND EXISTS (SELECT 1 FROM endpoints e WHERE e.id = d.destination_id AND e.status = 'active')
    RETURNING d.*)
  SELECT leased.*, m.payload FROM leased JOIN messages m ON m.id = leased.message_id`,
);

export async function lease(
  db: Db,
  input: { epoch: number; now: number; ids: readonly string[] },
): Promise<LeaseOutput> {
  return db.transaction(
    async (tx) => {
      if (!(await isAlive(tx, input.epoch))) return { fenced: true, deliveries: [] };
      const rows = await tx.all<ClaimedRow>(LEASE, input.epoch, input.now, input.ids);
      const leased = new Map(rows.map((row) => [row.id, row]));
      const wanted = [...new Set(input.ids)];
      return {
        fenced: false,
        deliveries: wanted.flatMap((id) => leased.get(id) ?? []).map(toClaimed),
      };
    },
    share(db, { kind: 'node', id: input.epoch }),
  );
}
