/** join, heartbeat, leave: a node's own lease. */
import type { Beat, HeartbeatInput, Joined, JoinInput } from '../store.ts';
import { type Db, type Runner, statement } from './driver.ts';
import { halfMoved } from './open-transfer.ts';
import { SERVER_NOW } from './server-clock.ts';

// Not into a schema that another store is being moved to: what a node would find there is half of it.
const JOIN = statement(
  'join',
  `INSERT INTO nodes (name, joined_at, expires_at, handed_from)
  SELECT $1, $2::bigint, $3::bigint, $4 WHERE NOT EXISTS (SELECT 1 FROM transfers WHERE finished_at IS NULL)
  RETURNING epoch, NOT EXISTS (SELECT 1 FROM nodes other WHERE other.expires_at > $2) AS alone`,
);
// Late is not lost: until somebody takes over (which sets 0), nobody else has touched this node's deliveries.
const HEARTBEAT = statement(
  'heartbeat',
  `UPDATE nodes SET expires_at = $1, handed_from = coalesce($4, handed_from) WHERE epoch = $2 AND expires_at > 0
  RETURNING NOT EXISTS (SELECT 1 FROM nodes other WHERE other.epoch < $2 AND other.expires_at > $3) AS leads,
    NOT EXISTS (SELECT 1 FROM nodes other WHERE other.epoch <> $2 AND other.expires_at > $3) AS alone,
    ${SERVER_NOW} AS server_now`,
);
const NOW = statement('server_now', `SELECT ${SERVER_NOW} AS server_now`);
const LEAVE = statement('leave', 'UPDATE nodes SET expires_at = 0 WHERE epoch = $1');
const IS_ALIVE = statement('is_alive', 'SELECT 1 AS alive FROM nodes WHERE epoch = $1 AND expires_at > 0');
const FORGET = statement('forget_node', 'DELETE FROM nodes WHERE epoch = $1');
// A former node's parked lanes are nobody's: what they have waiting is found by its due time again. Locked first, in a
// statement of its own: the due time must be read after the accepts that hold these rows have committed.
const LOCK_PARKED = statement(
  'lock_parked',
  'SELECT 1 FROM lanes WHERE parked_by = $1 ORDER BY destination_id FOR UPDATE',
);
const UNPARK = statement(
  'unpark',
  `UPDATE lanes SET parked_by = NULL, due_at = (
    SELECT d.queued_at FROM deliveries d WHERE d.destination_id = lanes.destination_id AND d.queued_at IS NOT NULL
    ORDER BY d.queued_at, d.id LIMIT 1)
  WHERE parked_by = $1`,
);

export async function join(db: Db, input: JoinInput): Promise<Joined> {
  const { name, leaseMs, handedFrom = '' } = input;
  await db.serverClock.read(async () => (await db.all<{ server_now: number }>(NOW))[0]);
  const now = db.serverClock.toServer(input.now);
  const [row] = await db.all<{ epoch: number; alone: boolean }>(JOIN, name, now, now + leaseMs, handedFrom);
  if (row === undefined) throw halfMoved(db.schema);
  return { epoch: row.epoch, alone: row.alone };
}

export async function heartbeat(db: Db, input: HeartbeatInput): Promise<Beat> {
  const { epoch, leaseMs, handedFrom = null } = input;
  const now = db.serverClock.toServer(input.now);
  const row = await db.serverClock.read(
    async () =>
      (
        await db.all<{ leads: boolean; alone: boolean; server_now: number }>(
          HEARTBEAT,
          now + leaseMs,
          epoch,
          now,
          handedFrom,
        )
      )[0],
  );
  if (row === undefined) return 'fenced';
  if (row.alone) return 'alone';
  return row.leads ? 'leading' : 'alive';
}

export async function leave(db: Db, input: { epoch: number }): Promise<void> {
  await db.run(LEAVE, input.epoch);
}

/** For a node that has nothing leased any more and never will: its lanes go back to all. */
export async function forgetNode(tx: Runner, epoch: number): Promise<void> {
  await Promise.all([tx.all(LOCK_PARKED, epoch), tx.run(UNPARK, epoch), tx.run(FORGET, epoch)]);
}

/** Whether this epoch may still lease. True until the commit, if the transaction shares the node's lock. */
export async function isAlive(runner: Runner, epoch: number): Promise<boolean> {
  return (await runner.all(IS_ALIVE, epoch)).length === 1;
}
