import { type ClaimedRow, toClaimed } from '../rows.ts';
import type { LeaseInput, LeaseOutput } from '../store.ts';
import { type Db, statement } from './driver.ts';
import { share } from './locks.ts';
import { isAlive } from './nodes.ts';
import { RECEIVED } from './received.ts';
import { within } from './within.ts';

// The lane's row is left as it is: whoever looks at it next finds its true due time.
const LEASE = statement(
  'lease',
  `WITH due AS MATERIALIZED (
    SELECT d.id AS due_id, d.ctid AS tid, m.payload, ${RECEIVED}, octet_length(m.payload) AS bytes,
      sum(octet_length(m.payload)) OVER (ORDER BY wanted.position ROWS UNBOUNDED PRECEDING) AS bytes_so_far
    FROM unnest($3::text[]) WITH ORDINALITY AS wanted (id, position)
    JOIN deliveries d ON d.id = wanted.id AND d.state = 'pending' AND d.due_at <= $2
    JOIN endpoints e ON e.id = d.destination_id AND e.status = 'active'
    JOIN messages m ON m.id = d.message_id
    WHERE EXISTS (SELECT 1 FROM nodes WHERE epoch = $1 AND expires_at > 0)),
  leased AS (
    UPDATE deliveries d SET state = 'leased', lease_epoch = $1
    FROM due WHERE d.ctid = due.tid AND d.state = 'pending' AND d.due_at <= $2 AND ${within('$4')}
    RETURNING d.id, d.message_id, d.application_id, d.destination_id, d.event_type, d.trigger_kind, d.attempts,
      d.schedule_attempts, d.first_attempt_at, d.due_at, d.created_at, due.payload, due.received)
  SELECT leased.*, ARRAY(SELECT due_id FROM due WHERE NOT ${within('$4')}) AS beyond FROM leased`,
);
const EARLY = statement(
  'lease_early',
  `SELECT id, due_at AS "dueAt" FROM deliveries WHERE id = ANY($1::text[]) AND state = 'pending' AND due_at > $2`,
);

/** `beyond`: what is due too, and did not fit. */
type LeasedRow = ClaimedRow & { beyond: readonly string[] };

export async function lease(db: Db, input: LeaseInput): Promise<LeaseOutput> {
  return db.transaction(
    async (tx) => {
      const wanted = [...new Set(input.ids)];
      const [alive, rows] = await Promise.all([
        isAlive(tx, input.epoch),
        tx.all<LeasedRow>(LEASE, input.epoch, input.now, wanted, input.maxBytes ?? null),
      ]);
      if (!alive) return { fenced: true, left: [], early: [], deliveries: [] };
      const leased = new Map(rows.map((row) => [row.id, row]));
      const left = rows[0]?.beyond ?? [];
      const others = leased.size + left.length === wanted.length ? [] : wanted.filter((id) => !leased.has(id));
      return {
        fenced: false,
        left,
        early: others.length === 0 ? [] : await tx.all<{ id: string; dueAt: number }>(EARLY, others, input.now),
        deliveries: wanted.flatMap((id) => leased.get(id) ?? []).map(toClaimed),
      };
    },
    share(db, { kind: 'node', id: input.epoch }),
  );
}
