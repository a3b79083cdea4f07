import type { Decision, EndpointHealth } from '../../model/index.ts';
import { errorFingerprint, errorLine } from '../../policy/index.ts';
import { HealthOfBatch, LAST_SUCCESS_RESOLUTION_MS } from '../health-of-batch.ts';
import { type HealthRow, toHealth } from '../rows.ts';
import type { RecordInput, RecordItem, RecordOutput } from '../store.ts';
import { deliver, type Moved } from './deliver.ts';
import { withoutNul } from './dialect.ts';
import { type Db, type SqlValue, statement, type Tx } from './driver.ts';
import { noteLanes } from './lanes.ts';
import { writeNews } from './news.ts';
import { writeHealth } from './set-status.ts';

// Only endpoints that this batch can change are locked: those with a failure in it ($2), and those that a success
// would heal or whose last success is told too long ago ($3). The others stay free for every node at once.
const LOCK_HEALTH = statement(
  'record_lock_health',
  `SELECT id, status, reason, failure_count, last_success_at, last_failure_at FROM endpoints
  WHERE id = ANY($1::text[])
    AND (id = ANY($2::text[]) OR failure_count <> 0 OR last_success_at IS NULL OR last_success_at <= $3)
  ORDER BY id FOR NO KEY UPDATE`,
);
const LOCK_LEASED = statement(
  'record_lock_leased',
  `SELECT d.id FROM unnest($1::text[], $3::int[]) AS i (id, number) JOIN deliveries d ON d.id = i.id
  WHERE d.state = 'leased' AND d.lease_epoch = $2 AND d.attempts = i.number - 1
  ORDER BY d.id FOR NO KEY UPDATE OF d`,
);
/**
 * The way of what was not delivered: moves it on where the lease still holds, and writes the attempts of those; says which
 * only if it was not all of them. Rows are looked up as in deliver.ts.
 */
const MOVE_ON = statement(
  'record_move_on',
  `WITH item AS MATERIALIZED (
    SELECT * FROM unnest($5::text[], $6::text[], $7::int[], $8::text[], $9::bigint[], $10::bigint[], $11::int[], $12::text[],
      $13::text[], $14::boolean[], $15::text[], $16::text[], $17::int[], $18::bigint[], $19::bigint[], $20::text[],
      $21::text[], $22::bigint[], $23::int[], $24::text[], $25::text[])
    AS t (attempt_id, delivery_id, number, url, started_at, duration_ms, status, error,
      response, response_truncated, decision, state, schedule_attempts, first_attempt_at, due_at, reason,
      dead_cause, dead_at, max_attempts, fingerprint, last_error)),
  moved AS (
    UPDATE deliveries d SET state = i.state, lease_epoch = NULL, attempts = i.number,
      schedule_attempts = i.schedule_attempts, first_attempt_at = i.first_attempt_at, due_at = coalesce(i.due_at, d.due_at), updated_at = $2,
      reason = i.reason, dead_cause = i.dead_cause, dead_at = i.dead_at, max_attempts = i.max_attempts,
      fingerprint = i.fingerprint, last_error = i.last_error
    FROM (
      SELECT i.*, at.tid FROM item i
      CROSS JOIN LATERAL (SELECT ctid AS tid FROM deliveries WHERE id = i.delivery_id OFFSET 0) at) i
    -- The number of attempts tells a repeated write, whose answer was lost, from one under the node's next lease.
    WHERE d.ctid = i.tid AND d.state = 'leased' AND d.lease_epoch = $1 AND d.attempts = i.number - 1
    RETURNING d.id, d.message_id, d.application_id, d.destination_id, d.event_type, d.trigger_kind, d.state, d.due_at,
      i.attempt_id, i.number, i.url, i.started_at, i.duration_ms, i.status, i.error, i.response, i.response_truncated,
      i.decision),
  new_attempts AS (
    INSERT INTO attempts (id, message_id, delivery_id, application_id, destination_id, event_type, number, trigger_kind, url,
      started_at, duration_ms, status, error, response, response_truncated, succeeded, decision)
    SELECT attempt_id, message_id, id, application_id, destination_id, event_type, number, trigger_kind, url,
      started_at, duration_ms, status, error, response, response_truncated, false, decision
    FROM moved),
  ${noteLanes('moved', '$3', '$4')}
  SELECT CASE WHEN count(*) < cardinality($6::text[]) THEN coalesce(array_agg(id), '{}') END AS ids
  FROM moved LEFT JOIN told ON true`,
);
const WRITTEN = statement(
  'record_written',
  `WITH item AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::bigint[])
    AS i (message_id, id, delivery_id, number, started_at, duration_ms))
  SELECT a.id FROM item i JOIN attempts a ON a.message_id = i.message_id AND a.id = i.id AND a.number = i.number
    AND a.started_at = i.started_at AND a.duration_ms = i.duration_ms
  UNION ALL
  SELECT i.id FROM item i JOIN deliveries d ON d.id = i.delivery_id
    AND i.id = 'atmpt_' || substr(d.id, 5) AND i.number = 1 AND d.due_at IS NULL AND d.success_url IS NOT NULL
    AND d.first_attempt_at = i.started_at AND d.success_ms = i.duration_ms`,
);

/**
 * Two round trips. Finished deliveries move in the first, beside the reads. A retry waits for them: where it goes depends
 * on its endpoint's status, and that on the attempts before it. The lease on the delivery's own row is what counts here,
 * not the node's: what nobody has taken over yet may still be recorded by the one who tried it.
 */
export async function record(db: Db, input: RecordInput): Promise<RecordOutput> {
  const items = firstPerDelivery(input.items);
  const { lost, endpoints } = await db.transaction((tx) => recordIn(db, tx, input, items));
  const written = new Set(await alreadyWritten(db, lost));
  const failed = new Set(lost.filter((item) => !written.has(item)));
  const recorded = failed.size === 0 && items.length === input.items.length ? undefined : new Set(items);
  return {
    results: input.items.map((item) =>
      recorded === undefined || (recorded.has(item) && !failed.has(item)) ? 'recorded' : 'lease_lost',
    ),
    endpoints,
  };
}

/** Ends the transaction; answers what of it had lost its lease. */
export async function recordIn(db: Db, tx: Tx, input: RecordInput, items: readonly RecordItem[]) {
  const [locked, ...lost] = await Promise.all([
    lockHealth(tx, items),
    lostOf(items, 'delivered', (group) => deliver(tx, input, group)),
    lostOf(items, 'dead', (group) => moveOn(db, tx, input, group.flatMap(toDead))),
    lostOf(items, 'retry', (group) => lockLeased(tx, input.epoch, group)),
  ]);
  const gone = new Set(lost.flat());
  const read = new Map(locked.map((row) => [row.id, toHealth(row)]));
  const health = new HealthOfBatch((endpointId) => read.get(endpointId));
  const waiting = items.flatMap((item) => {
    if (gone.has(item)) return [];
    const state = waitingState(health.of(item.attempt.destinationId));
    health.apply(item);
    return toWaiting(item, state);
  });
  const { changes, endpoints } = health.changes();
  // Health before lanes: it may lock the application, and that comes first (locks.ts).
  await Promise.all([
    writeHealth(db, tx, changes),
    waiting.length === 0 ? [] : moveOn(db, tx, input, waiting),
    tx.commit(),
  ]);
  return { lost: [...gone], endpoints };
}

/** Moves all with this decision; answers those whose lease is gone. */
async function lostOf(
  items: readonly RecordItem[],
  kind: Decision['kind'],
  move: (items: readonly RecordItem[]) => Promise<Moved>,
): Promise<readonly RecordItem[]> {
  const group = items.filter(({ attempt }) => attempt.decision.kind === kind);
  const moved = group.length === 0 ? 'all' : await move(group);
  if (moved === 'all') return [];
  const ids = new Set(moved);
  return group.filter(({ attempt }) => !ids.has(attempt.deliveryId));
}

async function moveOn(db: Db, tx: Tx, input: RecordInput, rows: readonly MoveRow[]): Promise<Moved> {
  const [answer] = await tx.all<{ ids: string[] | null }>(MOVE_ON, ...toParams(db, input, rows));
  return answer?.ids ?? 'all';
}

/** Locks the deliveries whose lease still holds for these attempts; answers which. */
export async function lockLeased(tx: Tx, epoch: number, items: readonly RecordItem[]): Promise<string[]> {
  const rows = await tx.all<{ id: string }>(
    LOCK_LEASED,
    items.map(({ attempt }) => attempt.deliveryId),
    epoch,
    items.map(({ attempt }) => attempt.number),
  );
  return rows.map(({ id }) => id);
}

/** The first attempt of a delivery ends its lease: a second one in the same batch has lost it. */
function firstPerDelivery(items: readonly RecordItem[]): RecordItem[] {
  const seen = new Set<string>();
  return items.filter(({ attempt }) => !seen.has(attempt.deliveryId) && seen.add(attempt.deliveryId));
}

/**
 * A commit whose answer was lost is repeated by the engine and finds its lease gone. If the very attempt is there, that
 * was us: it is recorded, and whoever listens hears of it. The times tell it from the attempt of an heir, which may have the
 * same id.
 */
async function alreadyWritten(db: Db, lost: readonly RecordItem[]): Promise<RecordItem[]> {
  if (lost.length === 0) return [];
  const rows = await db.all<{ id: string }>(
    WRITTEN,
    lost.map(({ attempt }) => attempt.messageId),
    lost.map(({ attempt }) => attempt.id),
    lost.map(({ attempt }) => attempt.deliveryId),
    lost.map(({ attempt }) => attempt.number),
    lost.map(({ attempt }) => attempt.startedAt),
    lost.map(({ attempt }) => attempt.durationMs),
  );
  const ids = new Set(rows.map(({ id }) => id));
  return lost.filter(({ attempt }) => ids.has(attempt.id));
}

type LockedHealth = HealthRow & { id: string };

function lockHealth(tx: Tx, items: readonly RecordItem[]): Promise<LockedHealth[]> {
  const ids = new Set(items.map(({ attempt }) => attempt.destinationId));
  const failing = items.filter(({ attempt }) => attempt.decision.kind !== 'delivered');
  const newest = Math.max(0, ...items.map(endOf));
  return tx.all<LockedHealth>(
    LOCK_HEALTH,
    [...ids],
    [...new Set(failing.map(({ attempt }) => attempt.destinationId))],
    newest - LAST_SUCCESS_RESOLUTION_MS,
  );
}

function endOf({ attempt }: RecordItem): number {
  return attempt.startedAt + attempt.durationMs;
}

function waitingState(health: EndpointHealth | undefined): 'pending' | 'held' | 'cancelled' {
  if (health === undefined) return 'cancelled';
  return health.status === 'active' ? 'pending' : 'held';
}

interface MoveRow {
  readonly item: RecordItem;
  readonly state: string;
  readonly dueAt: number | null;
  readonly deadCause: string | null;
  readonly deadAt: number | null;
}

function toDead(item: RecordItem): MoveRow[] {
  const { decision } = item.attempt;
  if (decision.kind !== 'dead') return [];
  return [{ item, state: 'dead', dueAt: null, deadCause: decision.cause, deadAt: endOf(item) }];
}

function toWaiting(item: RecordItem, state: 'pending' | 'held' | 'cancelled'): MoveRow[] {
  const { decision } = item.attempt;
  if (decision.kind !== 'retry') return [];
  const dueAt = state === 'cancelled' ? null : endOf(item) + decision.delayMs;
  return [{ item, state, dueAt, deadCause: null, deadAt: null }];
}

function toParams(db: Db, input: RecordInput, rows: readonly MoveRow[]): SqlValue[] {
  const attempts = rows.map(({ item }) => item.attempt);
  return [
    input.epoch,
    input.now,
    db.channel,
    writeNews(db.teller, { work: true }),
    attempts.map(({ id }) => id),
    attempts.map(({ deliveryId }) => deliveryId),
    attempts.map(({ number }) => number),
    attempts.map(({ url }) => url),
    attempts.map(({ startedAt }) => startedAt),
    attempts.map(({ durationMs }) => durationMs),
    attempts.map(({ status }) => status),
    attempts.map(({ error }) => error ?? null),
    attempts.map(({ response }) => withoutNul(response)),
    attempts.map(({ responseTruncated }) => responseTruncated),
    attempts.map(({ decision }) => JSON.stringify(decision)),
    rows.map(({ state }) => state),
    rows.map(({ item }) => item.scheduleAttempts),
    rows.map(({ item }) => item.firstAttemptAt),
    rows.map(({ dueAt }) => dueAt),
    attempts.map(({ decision }) => withoutNul(decision.reason)),
    rows.map(({ deadCause }) => deadCause),
    rows.map(({ deadAt }) => deadAt),
    rows.map(({ item }) => item.maxAttempts ?? null),
    rows.map(({ state, item }) => (state === 'dead' ? errorFingerprint(item.attempt) : null)),
    rows.map(({ state, item }) => (state === 'dead' ? withoutNul(errorLine(item.attempt)) : null)),
  ];
}
