/** join, heartbeat, leave: a node's own lease. */
import type { Beat, HeartbeatInput, Joined, JoinInput } from '../store.ts';
import type { Db } from './driver.ts';

const JOIN = 'INSERT INTO nodes (name, joined_at, expires_at, handed_from) VALUES (?, ?, ?, ?) RETURNING epoch';
// Late is not lost: until somebody takes over (which sets 0), nobody else has touched this node's deliveries.
const HEARTBEAT = `
  UPDATE nodes SET expires_at = ?, handed_from = coalesce(?, handed_from) WHERE epoch = ? AND expires_at > 0`;
const FIRST_OTHER = 'SELECT epoch FROM nodes WHERE epoch <> ? AND expires_at > ? ORDER BY epoch LIMIT 1';
const LEAVE = 'UPDATE nodes SET expires_at = 0 WHERE epoch = ?';
const IS_ALIVE = 'SELECT 1 AS alive FROM nodes WHERE epoch = ? AND expires_at > 0';
const EXPIRE_ALL = 'UPDATE nodes SET expires_at = 0';
// A former node's parked lanes are nobody's: what they have waiting is found by its due time again.
const UNPARK = `
  UPDATE lanes SET parked_by = NULL,
    due_at = (SELECT min(due_at) FROM deliveries d WHERE d.destination_id = lanes.destination_id AND d.state = 'pending')
  WHERE parked_by IS NOT NULL`;
const FORGET = 'DELETE FROM nodes WHERE epoch = ?';

export function join(db: Db, input: JoinInput): Joined {
  const row = db.get<{ epoch: number }>(JOIN, input.name, input.now, input.now + input.leaseMs, input.handedFrom ?? '');
  const epoch = row?.epoch ?? 0;
  return { epoch, alone: firstOther(db, epoch, input.now) === undefined };
}

/** The file lock proves that every former process is gone: its leases end at once instead of running out. */
export function endFormerLeases(db: Db): void {
  db.run(EXPIRE_ALL);
  db.run(UNPARK);
}

/** For a node that has nothing leased any more and never will: its lanes go back to all. */
export function forgetNode(db: Db, epoch: number): void {
  db.run(`${UNPARK} AND parked_by = ?`, epoch);
  db.run(FORGET, epoch);
}

export function heartbeat(db: Db, input: HeartbeatInput): Beat {
  if (db.run(HEARTBEAT, input.now + input.leaseMs, input.handedFrom ?? null, input.epoch) === 0) return 'fenced';
  const other = firstOther(db, input.epoch, input.now);
  if (other === undefined) return 'alone';
  return other > input.epoch ? 'leading' : 'alive';
}

function firstOther(db: Db, epoch: number, now: number): number | undefined {
  return db.get<{ epoch: number }>(FIRST_OTHER, epoch, now)?.epoch;
}

export function leave(db: Db, input: { epoch: number }): void {
  db.run(LEAVE, input.epoch);
}

/** Whether this epoch may still lease: it has not left and nobody has taken over from it. */
export function isAlive(db: Db, epoch: number): boolean {
  return db.get(IS_ALIVE, epoch) !== undefined;
}
