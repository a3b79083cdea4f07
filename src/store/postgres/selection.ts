/** redeliver, addDelivery and discard: what a person does to chosen deliveries, in one transaction a call. */

import type { DeliveryState } from '../../model/index.ts';
import { deliveryFilters, mergePages } from '../filters.ts';
import { AS_ATTEMPT, AS_ATTEMPT_COLUMNS, HOLDS_ATTEMPT, NO_SUCCESS } from '../first-success.ts';
import type { AddDeliveryInput, DiscardInput, Page, RedeliverInput, Selection, SelectionOutput } from '../store.ts';
import { anywhere, page as readPage } from './dialect.ts';
import { type Db, type Runner, statement } from './driver.ts';
import { noteLanes } from './lanes.ts';
import { writeNews } from './news.ts';
import { LOCK_ENDPOINTS_OF } from './set-status.ts';

const BY_HAND = "'sent again by hand'";
const BY_HAND_HELD = "'to be sent again by hand; held: its endpoint is stopped'";
// What has no endpoint any more would be held for ever: the join leaves it out.
const REDELIVER = statement(
  'redeliver',
  `WITH chosen AS MATERIALIZED (
    SELECT * FROM deliveries WHERE id = ANY($1::text[]) AND state = ANY($2::text[]) AND state <> 'leased'
    ORDER BY id FOR NO KEY UPDATE),
  given_rows AS (
    INSERT INTO attempts (${AS_ATTEMPT_COLUMNS})
    SELECT ${AS_ATTEMPT}, true, json_build_object('kind', 'delivered', 'reason', reason)::text
    FROM chosen WHERE ${HOLDS_ATTEMPT} AND EXISTS (SELECT 1 FROM endpoints e WHERE e.id = destination_id)),
  again AS (
    UPDATE deliveries d SET state = CASE WHEN e.status = 'active' THEN 'pending' ELSE 'held' END, trigger_kind = 'manual',
      schedule_attempts = 0, first_attempt_at = NULL, due_at = $3, updated_at = $3,
      reason = CASE WHEN e.status = 'active' THEN ${BY_HAND} ELSE ${BY_HAND_HELD} END, dead_cause = NULL, dead_at = NULL,
      fingerprint = NULL, last_error = NULL, ${NO_SUCCESS}
    FROM endpoints e, chosen
    WHERE e.id = d.destination_id AND d.id = chosen.id
    RETURNING d.id, d.destination_id, d.state, d.due_at),
  ${noteLanes('again', '$4', '$5', 'always')}
  SELECT again.id FROM again LEFT JOIN told ON true`,
);
const DISCARD = statement(
  'discard',
  `UPDATE deliveries SET state = 'cancelled', updated_at = $2, reason = $3, dead_cause = NULL, dead_at = NULL,
    fingerprint = NULL, last_error = NULL
  WHERE id = ANY($1::text[]) AND state = 'dead' RETURNING id`,
);
const LOCK_ENDPOINT = statement('add_lock_endpoint', 'SELECT 1 FROM endpoints WHERE id = $1 FOR SHARE');
const EXISTS = statement('add_exists', 'SELECT 1 FROM deliveries WHERE message_id = $1 AND destination_id = $2');
const ADD = statement(
  'add_delivery',
  `WITH added AS (
    INSERT INTO deliveries (id, message_id, application_id, destination_id, event_type, state, trigger_kind, attempts,
      schedule_attempts, due_at, created_at, updated_at, reason)
    SELECT $1, m.id, m.application_id, e.id, m.event_type, CASE WHEN e.status = 'active' THEN 'pending' ELSE 'held' END,
      'manual', 0, 0, $5, $5, $5, CASE WHEN e.status = 'active' THEN ${BY_HAND} ELSE ${BY_HAND_HELD} END
    FROM messages m, endpoints e WHERE m.application_id = $2 AND m.id = $3 AND e.id = $4
    ON CONFLICT (message_id, destination_id) DO NOTHING
    RETURNING destination_id, state, due_at),
  ${noteLanes('added', '$6', '$7', 'always')}
  SELECT 1 FROM added LEFT JOIN told ON true`,
);
const HAS_ENDPOINT = 'EXISTS (SELECT 1 FROM endpoints WHERE endpoints.id = destination_id)';

export function redeliver(db: Db, input: RedeliverInput): Promise<SelectionOutput> {
  return db.transaction(async (tx) => {
    const { ids, more } = await choose(tx, input.select, input.from, HAS_ENDPOINT);
    const news = writeNews(db.teller, { work: 'unqueued' });
    const [, rows] = await Promise.all([
      tx.all(LOCK_ENDPOINTS_OF, ids),
      tx.all<{ id: string }>(REDELIVER, ids, input.from, input.now, db.channel, news),
      tx.commit(),
    ]);
    return { ids: those(ids, rows), more };
  });
}

export function addDelivery(db: Db, input: AddDeliveryInput): Promise<'added' | 'exists' | 'missing'> {
  const { id, applicationId, messageId, destinationId, now } = input;
  return db.transaction(async (tx) => {
    const news = writeNews(db.teller, { work: 'unqueued' });
    const [, known, added] = await Promise.all([
      tx.all(LOCK_ENDPOINT, destinationId),
      tx.all(EXISTS, messageId, destinationId),
      tx.all(ADD, id, applicationId, messageId, destinationId, now, db.channel, news),
      tx.commit(),
    ]);
    if (known.length > 0) return 'exists';
    return added.length > 0 ? 'added' : 'missing';
  });
}

export function discard(db: Db, input: DiscardInput): Promise<SelectionOutput> {
  return db.transaction(async (tx) => {
    const { ids, more } = await choose(tx, input.select, ['dead']);
    const [rows] = await Promise.all([
      tx.all<{ id: string }>(DISCARD, ids, input.now, `discarded: ${input.reason}`),
      tx.commit(),
    ]);
    return { ids: those(ids, rows), more };
  });
}

/** Those that were still as they were chosen, in the order of the choice. */
function those(ids: readonly string[], rows: readonly { id: string }[]): string[] {
  const done = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => done.has(id));
}

async function choose(
  runner: Runner,
  select: Selection,
  from: readonly DeliveryState[],
  condition = 'true',
): Promise<{ ids: string[]; more: boolean }> {
  if ('ids' in select) return { ids: [...select.ids], more: false };
  const states = (select.filter.states ?? from).filter((state) => from.includes(state));
  const { limit } = select;
  const page = { limit, order: 'ascending' } as const;
  const pages: Page<{ id: string }>[] = [];
  // One after the other, each with what is committed by then: what goes from one to the other meanwhile is in both, or in one.
  for (const where of deliveryFilters(anywhere, { ...select.filter, states })) {
    const query = { table: 'deliveries', columns: 'id', key: 'id', where: where.and(condition), page };
    pages.push(await readPage(runner, query, (row: { id: string }) => row));
  }
  const { items, done } = mergePages(pages, page);
  return { ids: items.map(({ id }) => id), more: !done };
}
