import { floorId } from '../../ids.ts';
import type { MaintainInput, MaintainOutput } from '../store.ts';
import type { Db } from './driver.ts';
import { forgetEventIds, keepEventId } from './event-ids.ts';

const CHUNK = 500;

// Rows are in the order of their insertion: the first that is too young ends the walk. What was restored from an archive
// is among younger ones, and goes with them.
const OLDEST = 'SELECT rowid AS place, id, application_id FROM messages WHERE rowid > ? ORDER BY rowid LIMIT ?';
const IS_OPEN = `
  SELECT 1 AS open FROM deliveries WHERE message_id = ? AND state NOT IN ('delivered', 'cancelled') LIMIT 1`;
const DELETE_DELIVERIES = 'DELETE FROM deliveries WHERE message_id = ?';
const DELETE_ATTEMPTS = 'DELETE FROM attempts WHERE message_id = ?';
const DELETE_MESSAGE = 'DELETE FROM messages WHERE rowid = ?';

/** Before the first message: 0 is the place of none. */
const START = 0;

/** Looks at a bounded number of the oldest messages: what still has to be delivered, is held or dead keeps its message. */
export function maintain(db: Db, input: MaintainInput): MaintainOutput {
  const isFirst = (input.after ?? START) === START;
  if (isFirst && forgetEventIds(db, input.now - (input.eventIdsForMs ?? 0), CHUNK) === CHUNK) return { next: START };
  if (input.retentionMs === undefined) return {};
  const youngest = floorId('msg', input.now - input.retentionMs);
  const rows = db.all<{ place: number; id: string; application_id: string }>(OLDEST, input.after ?? START, CHUNK);
  const old = rows.slice(0, indexOfYoung(rows, youngest));
  for (const { place, id, application_id } of old) {
    if (db.get(IS_OPEN, id) !== undefined) continue;
    db.run(DELETE_ATTEMPTS, id);
    db.run(DELETE_DELIVERIES, id);
    keepEventId(db, application_id, id);
    db.run(DELETE_MESSAGE, place);
  }
  const last = old.at(-1);
  return old.length === CHUNK && last !== undefined ? { next: last.place } : {};
}

function indexOfYoung(rows: readonly { id: string }[], youngest: string): number {
  const index = rows.findIndex(({ id }) => id >= youngest);
  return index === -1 ? rows.length : index;
}
