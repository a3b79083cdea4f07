import type { ClaimedDelivery, ClaimInput, ClaimOutput } from '../store.ts';
import type { Db } from './driver.ts';
import { closeLane, nextDueAt, setLane } from './lanes.ts';
import { isAlive } from './nodes.ts';
import { type ClaimedRow, toClaimed } from './rows.ts';

const DUE_LANES = `
  SELECT destination_id FROM lanes WHERE due_at IS NOT NULL AND parked_by IS NULL AND due_at <= ? ORDER BY due_at LIMIT ?`;
const NEXT_LANE = 'SELECT due_at FROM lanes WHERE due_at IS NOT NULL AND parked_by IS NULL ORDER BY due_at LIMIT 1';
const IS_OPEN = "SELECT 1 AS open FROM endpoints WHERE id = ? AND status = 'active'";
const DUE = `
  SELECT d.*, m.payload FROM deliveries d
  JOIN messages m ON m.application_id = d.application_id AND m.id = d.message_id
  WHERE d.destination_id = ? AND d.state = 'pending' AND d.due_at <= ? ORDER BY d.due_at, d.id LIMIT ?`;
const LEASE = "UPDATE deliveries SET state = 'leased', lease_epoch = ? WHERE id = ? AND state = 'pending'";

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
  for (const lane of db.all<{ destination_id: string }>(DUE_LANES, input.now, input.discover.lanes)) {
    lanes.push({
      destinationId: lane.destination_id,
      more: claimLane(db, input, lane.destination_id, input.discover.room, deliveries),
    });
  }
  const next = db.get<{ due_at: number }>(NEXT_LANE)?.due_at;
  const moreLanes = next !== undefined && next <= input.now;
  return { fenced: false, deliveries, lanes, moreLanes, nextDueAt: moreLanes ? undefined : next };
}

/** Leases up to `room` due deliveries of one lane, oldest due first; answers whether it has more due now. */
function claimLane(db: Db, input: ClaimInput, destinationId: string, room: number, taken: ClaimedDelivery[]): boolean {
  if (db.get(IS_OPEN, destinationId) === undefined) {
    closeLane(db, destinationId);
    return false;
  }
  for (const row of db.all<ClaimedRow>(DUE, destinationId, input.now, room)) {
    db.run(LEASE, input.epoch, row.id);
    taken.push(toClaimed(row));
  }
  const next = nextDueAt(db, destinationId);
  const more = next !== undefined && next <= input.now;
  setLane(db, destinationId, next, more ? input.epoch : undefined);
  return more;
}
