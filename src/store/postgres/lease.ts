import { type ClaimedRow, toClaimed } from '../rows.ts';
import type { LeaseInput, LeaseOutput } from '../store.ts';
import { type Db, statement } from './driver.ts';
import { share } from './locks.ts';
import { isAlive } from './nodes.ts';
import { within } from './within.ts';

// The lane's row is left as it is: whoever looks at it next finds its true due time.
const LEASE = statement(
  'lease',
  `WITH due AS MATERIALIZED (
    SELECT d.id AS due_id, d.ctid AS tid, m.payload, octet_length(m.payload) AS bytes,
      sum(octet_length(m.payload)) OVER (ORDER BY wanted.position ROWS UNBOUNDED PRECEDING) AS bytes_so_far
    FROM unnest($3::text[]) WITH ORDINALITY AS wanted (id, position)
    JOIN deliveries d ON d.id = wanted.id AND d.state = 'pending' AND d.due_at <= $2
    JOIN endpoints e ON e.id = d.destination_id AND e.status = 'active'
    JOIN messages m ON m.id = d.message_id),
  leased AS (
    UPDATE deliveries d SET state = 'leased', lease_epoch = $1
    FROM due WHERE d.ctid = due.tid AND d.state = 'pending' AND d.due_at <= $2 AND ${within('$4')}
    RETURNING d.*, due.payload)
  SELECT leased.*, ARRAY(SELECT due_id FROM due WHERE NOT ${within('$4')}) AS beyond FROM leased`,
);

/** `beyond`: what is due too, and did not fit. */
type LeasedRow = ClaimedRow & { beyond: readonly string[] };

export async function lease(db: Db, input: LeaseInput): Promise<LeaseOutput> {
  return db.transaction(
    async (tx) => {
      if (!(await isAlive(tx, input.epoch))) return { fenced: true, left: [], deliveries: [] };
      const wanted = [...new Set(input.ids)];
      const rows = await tx.all<LeasedRow>(LEASE, input.epoch, input.now, wanted, input.maxBytes ?? null);
      const leased = new Map(rows.map((row) => [row.id, row]));
      return {
        fenced: false,
        left: rows[0]?.beyond ?? [],
        deliveries: wanted.flatMap((id) => leased.get(id) ?? []).map(toClaimed),
      };
    },
    share(db, { kind: 'node', id: input.epoch }),
  );
}
