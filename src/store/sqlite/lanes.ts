/** A lane's row: when its earliest pending delivery is due, who has it, and what a status change left to do. */
import type { Db } from './driver.ts';

const NOTE_DUE = `
  INSERT INTO lanes (destination_id, due_at) VALUES (?, ?)
  ON CONFLICT (destination_id) DO UPDATE SET due_at = min(coalesce(due_at, excluded.due_at), excluded.due_at)
  WHERE parked_by IS NULL AND (due_at IS NULL OR due_at > excluded.due_at)`;
const NEXT_DUE = `
  SELECT due_at FROM deliveries WHERE destination_id = ? AND state = 'pending' ORDER BY due_at, id LIMIT 1`;
const SET_LANE = `
  INSERT INTO lanes (destination_id, due_at, parked_by) VALUES (?, ?, ?)
  ON CONFLICT (destination_id) DO UPDATE SET due_at = excluded.due_at, parked_by = excluded.parked_by`;
const CLOSE_LANE = 'UPDATE lanes SET due_at = NULL, parked_by = NULL WHERE destination_id = ?';

/** Gathers, over one batch, the earliest due time of each lane that got pending work, and writes each lane once. */
export class DueLanes {
  readonly #dueAt = new Map<string, number>();

  note(destinationId: string, dueAt: number): void {
    const known = this.#dueAt.get(destinationId);
    if (known === undefined || dueAt < known) this.#dueAt.set(destinationId, dueAt);
  }

  write(db: Db): void {
    for (const [destinationId, dueAt] of this.#dueAt) db.run(NOTE_DUE, destinationId, dueAt);
  }
}

export function nextDueAt(db: Db, destinationId: string): number | undefined {
  return db.get<{ due_at: number }>(NEXT_DUE, destinationId)?.due_at;
}

/** Parked: the node that has it asks by name. Otherwise it is found when `dueAt` has come. */
export function setLane(db: Db, destinationId: string, dueAt: number | undefined, parkedBy: number | undefined): void {
  db.run(SET_LANE, destinationId, dueAt ?? null, parkedBy ?? null);
}

export function closeLane(db: Db, destinationId: string): void {
  db.run(CLOSE_LANE, destinationId);
}
