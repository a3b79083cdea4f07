import type { Db } from './driver.ts';
import { DueLanes } from './lanes.ts';
import { readHealth, waitingState } from './set-status.ts';

const RELEASE = `
  UPDATE deliveries SET state = ?, lease_epoch = NULL, due_at = coalesce(?, due_at), updated_at = ?
  WHERE id = ? AND state = 'leased' AND lease_epoch = ? RETURNING destination_id`;
const DESTINATION = 'SELECT destination_id FROM deliveries WHERE id = ?';

export function release(db: Db, input: { epoch: number; now: number; ids: readonly string[] }): void {
  const lanes = new DueLanes();
  for (const id of input.ids) {
    const destinationId = db.get<{ destination_id: string }>(DESTINATION, id)?.destination_id;
    if (destinationId === undefined) continue;
    const state = waitingState(readHealth(db, destinationId));
    const dueAt = state === 'cancelled' ? null : input.now;
    const released = db.get(RELEASE, state, dueAt, input.now, id, input.epoch);
    if (released !== undefined && state === 'pending') lanes.note(destinationId, input.now);
  }
  lanes.write(db);
}
