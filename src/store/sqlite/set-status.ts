import type { EndpointHealth, EndpointStatus } from '../../model/index.ts';
import { type HealthRow, toHealth } from '../rows.ts';
import type { SetStatusInput } from '../store.ts';
import { withStatus } from '../with-status.ts';
import type { Db } from './driver.ts';
import { nextDueAt } from './lanes.ts';
import { changeFanout } from './owners.ts';

const READ = 'SELECT status, reason, failure_count, last_success_at, last_failure_at FROM endpoints WHERE id = ?';
const WRITE = `
  UPDATE endpoints SET status = ?, reason = ?, failure_count = ?, last_success_at = ?, last_failure_at = ? WHERE id = ?`;
const OWNER = 'SELECT parent_id FROM endpoints WHERE id = ?';
// Nothing more is claimed from a stopped lane. A resumed one is found by what it still has pending (the sweep that
// was to hold it may not have come that far), and again as its held deliveries are let go.
const SWEEP_LANE = `
  INSERT INTO lanes (destination_id, sweep, due_at) VALUES (?, ?, ?)
  ON CONFLICT (destination_id) DO UPDATE SET sweep = excluded.sweep, due_at = excluded.due_at, parked_by = NULL`;

export function readHealth(db: Db, endpointId: string): EndpointHealth | undefined {
  const row = db.get<HealthRow>(READ, endpointId);
  return row && toHealth(row);
}

/** Where a delivery that is not finished belongs: it waits for its endpoint, unless that was deleted. */
export function waitingState(health: EndpointHealth | undefined): 'pending' | 'held' | 'cancelled' {
  if (health === undefined) return 'cancelled';
  return health.status === 'active' ? 'pending' : 'held';
}

/** Writes health; where it stops or resumes the endpoint, also what follows for its lane and the fan-out. */
export function writeHealth(
  db: Db,
  endpointId: string,
  health: EndpointHealth,
  before: EndpointStatus | undefined,
): void {
  db.run(
    WRITE,
    health.status,
    health.reason,
    health.failureCount,
    health.lastSuccessAt ?? null,
    health.lastFailureAt ?? null,
    endpointId,
  );
  if (before === health.status) return;
  changeFanout(db, db.get<{ parent_id: string }>(OWNER, endpointId)?.parent_id ?? '');
  if ((before === 'active') !== (health.status === 'active')) {
    const resumed = health.status === 'active';
    db.run(SWEEP_LANE, endpointId, resumed ? 'unhold' : 'hold', resumed ? (nextDueAt(db, endpointId) ?? null) : null);
  }
}

export function setStatus(db: Db, input: SetStatusInput): EndpointHealth | undefined {
  const before = readHealth(db, input.endpointId);
  if (before === undefined) return undefined;
  const after = withStatus(before, input);
  writeHealth(db, input.endpointId, after, before.status);
  return after;
}
