import { type ClaimedRow, toClaimed } from '../rows.ts';
import type { ClaimedDelivery, ClaimInput, ClaimOutput } from '../store.ts';
import type { Db } from './driver.ts';
import { closeLane, nextDueAt, setLane } from './lanes.ts';
import { isAlive } from './nodes.ts';
import { OF_MESSAGE } from './of-message.ts';

const FREE_LANES = 'FROM lanes WHERE due_at IS NOT NULL AND parked_by IS NULL';
const IS_OPEN = "SELECT 1 AS open FROM endpoints WHERE id = ? AND status = 'active'";
// One statement for the whole lane instead of one a row. Sizes are told by the rows' headers; no payload is read for them.
const LEASE_DUE = `
  UPDATE deliveries SET state = 'leased', lease_epoch = ?1
  WHERE id IN (
    SELECT id FROM (
      SELECT id, bytes, sum(bytes) OVER (ORDER BY due_at, id ROWS UNBOUNDED PRECEDING) AS bytes_so_far FROM (
        SELECT d.id, d.due_at, length(m.payload) AS bytes
        FROM deliveries d JOIN messages m ON m.application_id = d.application_id AND m.id = d.message_id
        WHERE d.destination_id = ?2 AND d.state = 'pending' AND d.due_at <= ?3 ORDER BY d.due_at, d.id LIMIT ?4))
    WHERE bytes_so_far <= ?5 OR (bytes_so_far = bytes AND ?6))
  RETURNING id, message_id, application_id, destination_id, event_type, trigger_kind, attempts, schedule_attempts,
    first_attempt_at, due_at, created_at, ${OF_MESSAGE}`;

export function claim(db: Db, input: ClaimInput): ClaimOutput {
  if (!isAlive(db, input.epoch)) {
    return { fenced: true, deliveries: [], lanes: [], moreLanes: false, nextDueAt: undefined };
  }
  const { handlers = [] } = input;
  const found = db.all<{ destination_id: string }>(
    `SELECT destination_id ${FREE_LANES} AND ${mine(handlers)} AND due_at <= ? ORDER BY due_at LIMIT ?`,
    ...handlers,
    input.now,
    input.discover.lanes === 0 ? 0 : input.discover.lanes + input.lanes.length,
  );
  const named = new Set(input.lanes.map(({ destinationId }) => destinationId));
  const others = found.filter((lane) => !named.has(lane.destination_id)).slice(0, input.discover.lanes);
  const wanted = [
    ...input.lanes,
    ...others.map((lane) => ({ destinationId: lane.destination_id, room: input.discover.room })),
  ];
  const deliveries: ClaimedDelivery[] = [];
  const lanes: { destinationId: string; more: boolean }[] = [];
  let left = input.maxBytes ?? Number.MAX_SAFE_INTEGER;
  let sharers = wanted.filter(({ room }) => room > 0).length;
  for (const lane of wanted) {
    // What one lane has no use for goes to the next.
    const maxBytes = lane.room > 0 ? Math.max(0, Math.floor(left / sharers--)) : 0;
    const taken = claimLane(db, input, { ...lane, maxBytes, atLeastOne: deliveries.length === 0 });
    for (const { payload } of taken.deliveries) left -= payload.length;
    deliveries.push(...taken.deliveries);
    lanes.push({ destinationId: lane.destinationId, more: taken.more });
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

interface LaneClaim {
  readonly destinationId: string;
  readonly room: number;
  readonly maxBytes: number;
  readonly atLeastOne: boolean;
}

/** Leases what there is room for of one lane's due deliveries, oldest due first; `more`: it has more due now. */
function claimLane(
  db: Db,
  { epoch, now }: ClaimInput,
  { destinationId, room, maxBytes, atLeastOne }: LaneClaim,
): { deliveries: ClaimedDelivery[]; more: boolean } {
  if (db.get(IS_OPEN, destinationId) === undefined) {
    closeLane(db, destinationId);
    return { deliveries: [], more: false };
  }
  const rows =
    room > 0 ? db.all<ClaimedRow>(LEASE_DUE, epoch, destinationId, now, room, maxBytes, atLeastOne ? 1 : 0) : [];
  // RETURNING promises no order.
  rows.sort((a, b) => (a.due_at ?? 0) - (b.due_at ?? 0) || (a.id < b.id ? -1 : 1));
  const next = nextDueAt(db, destinationId);
  const more = next !== undefined && next <= now;
  setLane(db, destinationId, next, more ? epoch : undefined);
  return { deliveries: rows.map(toClaimed), more };
}
