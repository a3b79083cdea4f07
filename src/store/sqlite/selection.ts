/** redeliver, addDelivery and discard: what a person does to chosen deliveries, in one transaction a call. */
import type { DeliveryState } from '../../model/index.ts';
import { deliveryFilters, mergePages } from '../filters.ts';
import { AS_ATTEMPT, AS_ATTEMPT_COLUMNS, HOLDS_ATTEMPT, NO_SUCCESS } from '../first-success.ts';
import type { AddDeliveryInput, DiscardInput, RedeliverInput, Selection, SelectionOutput } from '../store.ts';
import { anywhere, page as readPage } from './dialect.ts';
import type { Db } from './driver.ts';
import { DueLanes } from './lanes.ts';
import { readHealth } from './set-status.ts';

const BY_ID = 'SELECT id, destination_id, state FROM deliveries WHERE id = ?';
// What has no endpoint any more would be held for ever.
const HAS_ENDPOINT = 'EXISTS (SELECT 1 FROM endpoints WHERE endpoints.id = destination_id)';
const GIVE_ROW = `
  INSERT INTO attempts (${AS_ATTEMPT_COLUMNS})
  SELECT ${AS_ATTEMPT}, 1, json_object('kind', 'delivered', 'reason', reason)
  FROM deliveries WHERE id = ? AND ${HOLDS_ATTEMPT}`;
const REDELIVER = `
  UPDATE deliveries SET state = ?, trigger_kind = 'manual', schedule_attempts = 0, first_attempt_at = NULL, due_at = ?,
    updated_at = ?, reason = ?, dead_cause = NULL, dead_at = NULL, fingerprint = NULL, last_error = NULL, ${NO_SUCCESS}
  WHERE id = ? AND state <> 'leased'`;
const DISCARD = `
  UPDATE deliveries SET state = 'cancelled', updated_at = ?, reason = ?, dead_cause = NULL, dead_at = NULL,
    fingerprint = NULL, last_error = NULL
  WHERE id = ? AND state = 'dead'`;

const ADD = `
  INSERT INTO deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
    schedule_attempts, due_at, created_at, updated_at, reason)
  SELECT ?, id, application_id, ?, event_type, ?, 'manual', 0, 0, ?, ?, ?, ?
  FROM messages WHERE application_id = ? AND id = ?`;
const EXISTS = 'SELECT 1 AS found FROM deliveries WHERE message_id = ? AND destination_id = ?';

interface Selected {
  id: string;
  destination_id: string;
  state: DeliveryState;
}

export function redeliver(db: Db, input: RedeliverInput): SelectionOutput {
  const lanes = new DueLanes();
  const { chosen, more } = choose(db, input.select, input.from, HAS_ENDPOINT);
  for (const row of chosen) {
    const { state, reason } = byHand(db, row.destination_id);
    db.run(GIVE_ROW, row.id);
    db.run(REDELIVER, state, input.now, input.now, reason, row.id);
    if (state === 'pending') lanes.note(row.destination_id, input.now);
  }
  lanes.write(db);
  return { ids: chosen.map((row) => row.id), more };
}

export function addDelivery(db: Db, input: AddDeliveryInput): 'added' | 'exists' | 'missing' {
  if (db.get(EXISTS, input.messageId, input.destinationId) !== undefined) return 'exists';
  if (readHealth(db, input.destinationId) === undefined) return 'missing';
  const { state, reason } = byHand(db, input.destinationId);
  const { id, destinationId, now } = input;
  const added = db.run(ADD, id, destinationId, state, now, now, now, reason, input.applicationId, input.messageId);
  if (added === 0) return 'missing';
  const lanes = new DueLanes();
  if (state === 'pending') lanes.note(destinationId, now);
  lanes.write(db);
  return 'added';
}

export function discard(db: Db, input: DiscardInput): SelectionOutput {
  const { chosen, more } = choose(db, input.select, ['dead']);
  for (const row of chosen) db.run(DISCARD, input.now, `discarded: ${input.reason}`, row.id);
  return { ids: chosen.map((row) => row.id), more };
}

function byHand(db: Db, destinationId: string): { state: 'pending' | 'held'; reason: string } {
  if (readHealth(db, destinationId)?.status === 'active') return { state: 'pending', reason: 'sent again by hand' };
  return { state: 'held', reason: 'to be sent again by hand; held: its endpoint is stopped' };
}

function choose(
  db: Db,
  select: Selection,
  from: readonly DeliveryState[],
  condition = 'true',
): { chosen: Selected[]; more: boolean } {
  if ('ids' in select) {
    const rows = select.ids.map((id) => db.get<Selected>(`${BY_ID} AND ${condition}`, id));
    return {
      chosen: rows.filter((row): row is Selected => row !== undefined && from.includes(row.state)),
      more: false,
    };
  }
  const states = (select.filter.states ?? from).filter((state) => from.includes(state));
  const { limit } = select;
  const page = { limit, order: 'ascending' } as const;
  const pages = deliveryFilters(anywhere, { ...select.filter, states }).map((where) =>
    readPage(
      db,
      { table: 'deliveries', columns: 'id, destination_id, state', key: 'id', where: where.and(condition), page },
      (row: Selected) => row,
    ),
  );
  const { items, done } = mergePages(pages, page);
  return { chosen: [...items], more: !done };
}
