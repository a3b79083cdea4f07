/** Deliver: the way of a success, which most attempts are, with no more columns than it fills. */
import { isFirstSuccess } from '../first-success.ts';
import type { RecordInput, RecordItem } from '../store.ts';
import { withoutNul } from './dialect.ts';
import { statement, type Tx } from './driver.ts';
import { Shapes } from './shapes.ts';

/**
 * The common life of a batch: many deliveries, few endpoints, the same answer. What they have in common crosses once, as a
 * shape; an item is its ids, its times and the place of its shape.
 *
 * Each row is looked up by its id first: a join the planner may turn round, and read the whole table for every batch.
 */
const DELIVER_AT_ONCE = statement(
  'record_deliver_at_once',
  `WITH moved AS (
    UPDATE deliveries d SET state = 'delivered', lease_epoch = NULL, updated_at = $2, attempts = 1, schedule_attempts = 1,
      first_attempt_at = i.started_at, success_ms = i.duration_ms,
      max_attempts = ($7::int[])[i.shape], reason = ($8::text[])[i.shape], success_url = ($9::text[])[i.shape],
      success_status = ($10::int[])[i.shape], success_response = ($11::text[])[i.shape],
      success_truncated = ($12::boolean[])[i.shape]
    FROM (
      SELECT i.*, at.tid FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::int[])
        AS i (delivery_id, started_at, duration_ms, shape)
      CROSS JOIN LATERAL (SELECT ctid AS tid FROM deliveries WHERE id = i.delivery_id OFFSET 0) at) i
    WHERE d.ctid = i.tid AND d.state = 'leased' AND d.lease_epoch = $1 AND d.attempts = 0 AND d.due_at IS NULL
    RETURNING d.id)
  SELECT CASE WHEN count(*) < cardinality($3::text[]) THEN coalesce(array_agg(id), '{}') END AS ids FROM moved`,
);

/** For a success that has waited, or whose answer is long: its attempt has a row of its own. */
const DELIVER = statement(
  'record_deliver',
  `WITH moved AS (
    UPDATE deliveries d SET state = 'delivered', lease_epoch = NULL, updated_at = $2,
      attempts = ($9::int[])[i.shape], schedule_attempts = ($10::int[])[i.shape], max_attempts = ($11::int[])[i.shape],
      first_attempt_at = coalesce(i.first_attempt_at, i.started_at), reason = ($12::text[])[i.shape]
    FROM (
      SELECT i.*, at.tid FROM unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::int[])
        AS i (attempt_id, delivery_id, started_at, duration_ms, first_attempt_at, shape)
      CROSS JOIN LATERAL (SELECT ctid AS tid FROM deliveries WHERE id = i.delivery_id OFFSET 0) at) i
    -- The number of attempts tells a repeated write, whose answer was lost, from one under the node's next lease.
    WHERE d.ctid = i.tid AND d.state = 'leased' AND d.lease_epoch = $1 AND d.attempts = ($9::int[])[i.shape] - 1
    RETURNING d.id, d.message_id, d.application_id, d.destination_id, d.event_type, d.trigger_kind, d.attempts,
      i.attempt_id, i.started_at, i.duration_ms, i.shape),
  new_attempts AS (
    INSERT INTO attempts (id, message_id, delivery_id, application_id, destination_id, event_type, number, trigger_kind, url,
      started_at, duration_ms, status, response, response_truncated, succeeded, decision)
    SELECT attempt_id, message_id, id, application_id, destination_id, event_type, attempts, trigger_kind,
      ($13::text[])[shape], started_at, duration_ms, ($14::int[])[shape], ($15::text[])[shape], ($16::boolean[])[shape],
      true, ($17::text[])[shape]
    FROM moved)
  SELECT CASE WHEN count(*) < cardinality($4::text[]) THEN coalesce(array_agg(id), '{}') END AS ids FROM moved`,
);

/** The deliveries whose lease held, by their ids. */
export type Moved = readonly string[] | 'all';

/** Moves deliveries on where the lease still holds, and keeps the attempts of those. */
export async function deliver(tx: Tx, input: RecordInput, items: readonly RecordItem[]): Promise<Moved> {
  const first: RecordItem[] = [];
  const others: RecordItem[] = [];
  for (const item of items) (isFirstSuccess(item) ? first : others).push(item);
  if (first.length === 0) return deliverWithRows(tx, input, items);
  const [atOnce, withRows] = await Promise.all([
    deliverAtOnce(tx, input, first),
    others.length === 0 ? ('all' as const) : deliverWithRows(tx, input, others),
  ]);
  if (atOnce === 'all' && withRows === 'all') return 'all';
  const done = new Set(idsOf(first, atOnce));
  const missed = first.filter(({ attempt }) => !done.has(attempt.deliveryId));
  // It lost its lease, or has waited after all.
  const late = missed.length === 0 ? [] : idsOf(missed, await deliverWithRows(tx, input, missed));
  return [...done, ...idsOf(others, withRows), ...late];
}

function idsOf(items: readonly RecordItem[], moved: Moved): readonly string[] {
  return moved === 'all' ? items.map(({ attempt }) => attempt.deliveryId) : moved;
}

async function deliverAtOnce(tx: Tx, input: RecordInput, items: readonly RecordItem[]): Promise<Moved> {
  const { shapes, places } = shapesOf(items);
  const attempts = items.map(({ attempt }) => attempt);
  const [answer] = await tx.all<{ ids: string[] | null }>(
    DELIVER_AT_ONCE,
    input.epoch,
    input.now,
    attempts.map(({ deliveryId }) => deliveryId),
    attempts.map(({ startedAt }) => startedAt),
    attempts.map(({ durationMs }) => durationMs),
    places,
    shapes.map(({ maxAttempts }) => maxAttempts ?? null),
    shapes.map(({ attempt }) => withoutNul(attempt.decision.reason)),
    shapes.map(({ attempt }) => attempt.url),
    shapes.map(({ attempt }) => attempt.status),
    shapes.map(({ attempt }) => withoutNul(attempt.response)),
    shapes.map(({ attempt }) => attempt.responseTruncated),
  );
  return answer?.ids ?? 'all';
}

async function deliverWithRows(tx: Tx, input: RecordInput, items: readonly RecordItem[]): Promise<Moved> {
  const { shapes, places } = shapesOf(items);
  const attempts = items.map(({ attempt }) => attempt);
  const [answer] = await tx.all<{ ids: string[] | null }>(
    DELIVER,
    input.epoch,
    input.now,
    attempts.map(({ id }) => id),
    attempts.map(({ deliveryId }) => deliveryId),
    attempts.map(({ startedAt }) => startedAt),
    attempts.map(({ durationMs }) => durationMs),
    items.map(({ firstAttemptAt, attempt }) => (firstAttemptAt === attempt.startedAt ? null : firstAttemptAt)),
    places,
    shapes.map(({ attempt }) => attempt.number),
    shapes.map(({ scheduleAttempts }) => scheduleAttempts),
    shapes.map(({ maxAttempts }) => maxAttempts ?? null),
    shapes.map(({ attempt }) => withoutNul(attempt.decision.reason)),
    shapes.map(({ attempt }) => attempt.url),
    shapes.map(({ attempt }) => attempt.status),
    shapes.map(({ attempt }) => withoutNul(attempt.response)),
    shapes.map(({ attempt }) => attempt.responseTruncated),
    shapes.map(({ attempt }) => JSON.stringify(attempt.decision)),
  );
  return answer?.ids ?? 'all';
}

function shapesOf(items: readonly RecordItem[]): { shapes: readonly RecordItem[]; places: number[] } {
  const shapes = new Shapes(({ attempt, scheduleAttempts, maxAttempts }: RecordItem) => {
    const { number, url, status, response, responseTruncated, decision } = attempt;
    return [number, scheduleAttempts, maxAttempts, status, responseTruncated, decision.reason, url, response];
  });
  const places = items.map((item) => shapes.placeOf(item));
  return { shapes: shapes.all, places };
}
