import { type ClaimedRow, toClaimed } from '../rows.ts';
import type { ClaimInput, ClaimOutput } from '../store.ts';
import { type Db, statement, type Tx } from './driver.ts';
import { share } from './locks.ts';
import { isAlive } from './nodes.ts';
import { RECEIVED } from './received.ts';
import { within } from './within.ts';

/** A handler's lane is for the nodes that have the function; the others pass it by, however long it has been due. */
function mine(handlers: string): string {
  return `(destination_id NOT LIKE 'hdl\\_%' OR destination_id = ANY(${handlers}::text[]))`;
}

const LOCK_NAMED = statement(
  'claim_lock_named',
  'SELECT destination_id FROM lanes WHERE destination_id = ANY($1::text[]) ORDER BY destination_id FOR UPDATE',
);
// A lane that another node is looking at is left to it.
export const LOCK_DUE = statement(
  'claim_lock_due',
  `SELECT destination_id FROM lanes
  WHERE due_at IS NOT NULL AND parked_by IS NULL AND due_at <= $1 AND destination_id <> ALL($2::text[])
    AND ${mine('$4')}
  ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED`,
);
// One of each lane, then a second one of each: many bytes in one lane do not take the place of the others. Sizes are told by
// the payloads' headers; what stays behind is not read.
export const LEASE_DUE = statement(
  'claim_lease_due',
  `WITH due AS MATERIALIZED (
    SELECT d.tid, m.payload, ${RECEIVED}, octet_length(m.payload) AS bytes,
      sum(octet_length(m.payload)) OVER (ORDER BY d.nth, lane.position ROWS UNBOUNDED PRECEDING) AS bytes_so_far
    FROM unnest($3::text[], $4::int[]) WITH ORDINALITY AS lane (destination_id, room, position)
    JOIN endpoints e ON e.id = lane.destination_id AND e.status = 'active'
    CROSS JOIN LATERAL (
      SELECT ctid AS tid, message_id, row_number() OVER (ORDER BY queued_at, id) AS nth FROM deliveries
      WHERE destination_id = lane.destination_id AND queued_at <= $2
      ORDER BY queued_at, id LIMIT lane.room) d
    JOIN messages m ON m.id = d.message_id),
  leased AS (
    UPDATE deliveries d SET state = 'leased', lease_epoch = $1
    FROM due WHERE d.ctid = due.tid AND d.state = 'pending' AND ${within('$5')}
    RETURNING d.id, d.message_id, d.application_id, d.destination_id, d.event_type, d.trigger_kind, d.attempts,
      d.schedule_attempts, d.first_attempt_at, d.due_at, d.created_at, due.payload, due.received)
  SELECT * FROM leased`,
);
// A stopped lane is closed. One with more due work is parked: its node asks for it by name.
export const SETTLE_LANES = statement(
  'claim_settle_lanes',
  `UPDATE lanes SET due_at = next.due_at, parked_by = CASE WHEN next.due_at <= $2 THEN $1::bigint END
  FROM unnest($3::text[]) AS lane (destination_id)
  LEFT JOIN LATERAL (
    SELECT d.queued_at AS due_at FROM endpoints e, deliveries d
    WHERE e.id = lane.destination_id AND e.status = 'active'
      AND d.destination_id = lane.destination_id AND d.queued_at IS NOT NULL
    ORDER BY d.queued_at, d.id LIMIT 1) next ON true
  WHERE lanes.destination_id = lane.destination_id
  RETURNING lanes.destination_id, lanes.parked_by IS NOT NULL AS more`,
);
const NEXT_LANE = statement(
  'claim_next_lane',
  `SELECT due_at FROM lanes WHERE due_at IS NOT NULL AND parked_by IS NULL AND ${mine('$1')} ORDER BY due_at LIMIT 1`,
);

const FENCED: ClaimOutput = { fenced: true, deliveries: [], lanes: [], moreLanes: false, nextDueAt: undefined };

/**
 * Three round trips: the lanes are locked first, because only a statement that begins with their locks held sees all
 * that was put into them; and the commit waits for the answer, so that what a broken connection leaves leased is known.
 */
export async function claim(db: Db, input: ClaimInput): Promise<ClaimOutput> {
  return db.transaction(
    async (tx) => {
      const named = input.lanes.map(({ destinationId }) => destinationId);
      const [alive, known, due] = await Promise.all([
        isAlive(tx, input.epoch),
        named.length === 0 ? [] : tx.all<{ destination_id: string }>(LOCK_NAMED, named),
        input.discover.lanes === 0
          ? []
          : tx.all<{ destination_id: string }>(LOCK_DUE, input.now, named, input.discover.lanes, input.handlers ?? []),
      ]);
      if (!alive) return FENCED;
      const locked = new Set(known.map((lane) => lane.destination_id));
      const wanted = inTurn(
        input.lanes.filter(({ destinationId }) => locked.has(destinationId)),
        due.map((lane) => ({ destinationId: lane.destination_id, room: input.discover.room })),
      );
      const { rows, more, next } = await take(tx, input, wanted);
      const moreLanes = next !== undefined && next <= input.now;
      return {
        fenced: false,
        deliveries: inOrder(rows, wanted).map(toClaimed),
        lanes: [...named, ...due.map((lane) => lane.destination_id)].map((destinationId) => ({
          destinationId,
          more: more.has(destinationId),
        })),
        moreLanes,
        nextDueAt: moreLanes ? undefined : next,
      };
    },
    share(db, { kind: 'node', id: input.epoch }),
  );
}

async function take(tx: Tx, input: ClaimInput, wanted: readonly { destinationId: string; room: number }[]) {
  const ids = wanted.map(({ destinationId }) => destinationId);
  const rooms = wanted.map(({ room }) => room);
  const none = ids.length === 0;
  const [rows, lanes, [next]] = await Promise.all([
    none ? [] : tx.all<ClaimedRow>(LEASE_DUE, input.epoch, input.now, ids, rooms, input.maxBytes ?? null),
    none ? [] : tx.all<{ destination_id: string; more: boolean }>(SETTLE_LANES, input.epoch, input.now, ids),
    tx.all<{ due_at: number }>(NEXT_LANE, input.handlers ?? []),
  ]);
  const more = new Set(lanes.filter((lane) => lane.more).map((lane) => lane.destination_id));
  return { rows, more, next: next?.due_at };
}

/** Known lanes and newly found ones by turns: neither may take all the bytes that there are. */
function inTurn<T>(known: readonly T[], found: readonly T[]): T[] {
  const turns = Math.max(known.length, found.length);
  return Array.from({ length: turns }, (_, turn) => [
    ...known.slice(turn, turn + 1),
    ...found.slice(turn, turn + 1),
  ]).flat();
}

/** RETURNING promises no order: lane by lane as asked, oldest due first. */
function inOrder(rows: ClaimedRow[], lanes: readonly { destinationId: string }[]): ClaimedRow[] {
  const position = new Map(lanes.map(({ destinationId }, index) => [destinationId, index]));
  const lane = (row: ClaimedRow) => position.get(row.destination_id) ?? 0;
  return rows.sort((a, b) => lane(a) - lane(b) || (a.due_at ?? 0) - (b.due_at ?? 0) || (a.id < b.id ? -1 : 1));
}
