import { type ClaimedRow, toClaimed } from '../rows.ts';
import type { ClaimedDelivery, ClaimInput, ClaimOutput } from '../store.ts';
import type { Db } from './driver.ts';
import { closeLane, nextDueAt, setLane } from './lanes.ts';
import { isAlive } from './nodes.ts';

const FREE_LANES = 'FROM lanes WHERE due_at IS NOT NULL AND parked_by IS NULL';
const IS_OPEN = "SELECT 1 AS open FROM endpoints WHERE id = ? AND status = 'active'";
// One statement for the whole lane instead of one a row.
const LEASE_DUE = `
  UPDATE deliveries SET state = 'leased', lease_epoch = ?1
  WHERE id IN (
    SELECT id FROM deliveries WHERE destination_id = ?2 AND state = 'pending' AND due_at <= ?3 ORDER BY due_at, id LIMIT ?4)
  RETURNING id, message_id, application_id, destination_id, event_type, trigger_kind, attempts, schedule_attempts,
    first_attempt_at, due_at, created_at,
    (SELECT payload FROM messages m WHERE m.application_id = deliveries.application_id AND m.id = message_id) AS payload`;

export function claim(db: Db, input: ClaimInput): ClaimOutput {
  if (!isAlive(db, input.epoch)) {
    return { fenced: true, deliveries: [], lanes: [], moreLanes: false, nextDueAt: undefined };
  }
  const deliveries: ClaimedDelivery[] = [];
  const lanes: { destinationId: string; more: boolean }[] = [];
  for (const lane of input.lanes) {
    lanes.push({
      destinationId: lane.destinationId,
      more: claimLane(db, input, lane.destinationId, lane.room, deliveries),
    });
  }
  const { handlers = [] } = input;
  const found = db.all<{ destination_id: string }>(
    `SELECT destination_id ${FREE_LANES} AND ${mine(handlers)} AND due_at <= ? ORDER BY due_at LIMIT ?`,
    ...handlers,
    input.now,
    input.discover.lanes,
  );
  for (const lane of found) {
    lanes.push({
      destinationId: lane.destination_id,
      more: claimLane(db, input, lane.destination_id, input.discover.room, deliveries),
    });
  }
  const next = db.get<{ due_at: number }>(
    `SELECT due_at ${FREE_LANES} AND ${mine(handlers)} ORDER BY due_at LIMIT 1`,
    ...handlers,
  )?.due_at;
  const moreLanes = next !== undefined && next <= input.now;
  return { fenced: false, deliveries, lanes, moreLanes, nextDueAt: moreLanes ? undefined : next };
}

/** A handler's lane is for the nodes that have the function; the others pass it by, however long it has been due. */
function mine(handlers: readonly string[]): string {
  const others = "destination_id NOT GLOB 'hdl_*'";
  return handlers.length === 0 ? others : `(${others} OR destination_id IN (${handlers.map(() => '?').join(', ')}))`;
}

/** Leases up to `room` due deliveries of one lane, oldest due first; answers whether it has more due now. */
function claimLane(db: Db, input: ClaimInput, destinationId: string, room: number, taken: ClaimedDelivery[]): boolean {
  if (db.get(IS_OPEN, destinationId) === undefined) {
    closeLane(db, destinationId);
    return false;
  }
  const leased = room > 0 ? db.all<ClaimedRow>(LEASE_DUE, input.epoch, destinationId, input.now, room) : [];
  // RETURNING promises no order.
  leased.sort((a, b) => (a.due_at ?? 0) - (b.due_at ?? 0) || (a.id < b.id ? -1 : 1));
  for (const row of leased) taken.push(toClaimed(row));
  const next = nextDueAt(db, destinationId);
  const more = next !== undefined && next <= input.now;
  setLane(db, destinationId, next, more ? input.epoch : undefined);
  return more;
}
