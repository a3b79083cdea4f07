import type { EndpointHealth } from '../../model/index.ts';
import type { HealthChange } from '../health-of-batch.ts';
import { type HealthRow, toHealth } from '../rows.ts';
import type { SetStatusInput } from '../store.ts';
import { withStatus } from '../with-status.ts';
import { type Db, statement, type Tx } from './driver.ts';
import { exclude } from './locks.ts';
import { tell } from './news.ts';

/** Whoever moves deliveries by their endpoint's status shares these rows: the status cannot change under it. */
export const LOCK_ENDPOINTS_OF = statement(
  'lock_endpoints_of',
  `SELECT id FROM endpoints
  WHERE id = ANY(ARRAY(SELECT destination_id FROM deliveries WHERE id = ANY($1::text[]))) ORDER BY id FOR SHARE`,
);
const LOCK = statement(
  'lock_endpoint',
  `SELECT parent_id, status, reason, failure_count, last_success_at, last_failure_at
  FROM endpoints WHERE id = $1 FOR NO KEY UPDATE`,
);
const WRITE = statement(
  'write_health',
  `UPDATE endpoints e SET status = h.status, reason = h.reason, failure_count = h.failure_count,
    last_success_at = h.last_success_at, last_failure_at = h.last_failure_at
  FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
    AS h (id, status, reason, failure_count, last_success_at, last_failure_at)
  WHERE e.id = h.id`,
);
export const CHANGE_FANOUT = statement(
  'change_fanout',
  `WITH changed AS (UPDATE applications SET fanout_revision = fanout_revision + 1 WHERE id = ANY($1::text[]))
  UPDATE sources SET fanout_revision = fanout_revision + 1 WHERE id = ANY($1::text[])`,
);
// Nothing more is claimed from a stopped lane. A resumed one is found by what it still has pending (the sweep that
// was to hold it may not have come that far), and again as its held deliveries are let go.
const SWEEP_LANES = statement(
  'sweep_lanes',
  `INSERT INTO lanes (destination_id, sweep)
  SELECT destination_id, sweep FROM unnest($1::text[], $2::text[]) AS t (destination_id, sweep) ORDER BY destination_id
  ON CONFLICT (destination_id) DO UPDATE SET sweep = excluded.sweep, due_at = NULL, parked_by = NULL`,
);
const REOPEN_LANES = statement(
  'reopen_lanes',
  `UPDATE lanes SET due_at = (
    SELECT d.queued_at FROM deliveries d WHERE d.destination_id = lanes.destination_id AND d.queued_at IS NOT NULL
    ORDER BY d.queued_at, d.id LIMIT 1)
  WHERE destination_id = ANY($1::text[])`,
);

/**
 * Writes health; where it stops or resumes endpoints, also what follows for their lanes and the fan-out. The caller has
 * the endpoints' rows locked. Sends without waiting; the answer comes with the last statement's.
 */
export async function writeHealth(db: Db, tx: Tx, changes: readonly HealthChange[]): Promise<void> {
  if (changes.length === 0) return;
  const statements: Promise<unknown>[] = [
    tx.run(
      WRITE,
      changes.map(({ id }) => id),
      changes.map(({ health }) => health.status),
      changes.map(({ health }) => health.reason),
      changes.map(({ health }) => health.failureCount),
      changes.map(({ health }) => health.lastSuccessAt ?? null),
      changes.map(({ health }) => health.lastFailureAt ?? null),
    ),
  ];
  const moved = changes.filter(({ before, health }) => before !== health.status);
  if (moved.length > 0)
    statements.push(
      ...changeFanout(
        db,
        tx,
        moved.map(({ applicationId }) => applicationId),
      ),
    );
  const crossed = moved.filter(({ before, health }) => (before === 'active') !== (health.status === 'active'));
  if (crossed.length > 0) {
    const resumed = crossed.filter(({ health }) => health.status === 'active').map(({ id }) => id);
    statements.push(
      tx.run(
        SWEEP_LANES,
        crossed.map(({ id }) => id),
        crossed.map(({ health }) => (health.status === 'active' ? 'unhold' : 'hold')),
      ),
    );
    if (resumed.length > 0) statements.push(tx.run(REOPEN_LANES, resumed));
  }
  if (moved.length > 0) {
    const work = crossed.some(({ health }) => health.status === 'active') && 'unqueued';
    statements.push(tell(db, tx, { work, changed: moved.map(({ applicationId }) => applicationId) }));
  }
  await Promise.all(statements);
}

/** Waits for the accepts that chose destinations by the fan-out as it was, and raises its revision. */
export function changeFanout(db: Db, tx: Tx, applicationIds: readonly string[]): Promise<unknown>[] {
  const locks = exclude(db, ...applicationIds.map((id) => ({ kind: 'application' as const, id })));
  return [tx.all({ text: `SELECT ${locks}` }), tx.run(CHANGE_FANOUT, [...new Set(applicationIds)])];
}

export async function setStatus(db: Db, input: SetStatusInput): Promise<EndpointHealth | undefined> {
  return db.transaction(async (tx) => {
    const [row] = await tx.all<HealthRow & { parent_id: string }>(LOCK, input.endpointId);
    if (row === undefined) return undefined;
    const before = toHealth(row);
    const after = withStatus(before, input);
    const change = { id: input.endpointId, applicationId: row.parent_id, before: before.status, health: after };
    await Promise.all([writeHealth(db, tx, [change]), tx.commit()]);
    return after;
  });
}
