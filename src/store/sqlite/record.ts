import type { Attempt, Decision } from '../../model/index.ts';
import { errorFingerprint, errorLine } from '../../policy/index.ts';
import { isFirstSuccess } from '../first-success.ts';
import { HealthOfBatch } from '../health-of-batch.ts';
import { ATTEMPT_COLUMNS, attemptValues } from '../row-values.ts';
import type { RecordInput, RecordItem, RecordOutput } from '../store.ts';
import { storable } from './dialect.ts';
import { type Db, insertRows, type RowsStatement, type SqlValue } from './driver.ts';
import { DueLanes } from './lanes.ts';
import { readHealth, waitingState, writeHealth } from './set-status.ts';

// The number of attempts tells a repeated write, whose answer was lost, from one under the node's next lease.
const MOVE_ON = `
  UPDATE deliveries SET state = ?, lease_epoch = NULL, attempts = ?, schedule_attempts = ?, max_attempts = ?,
    first_attempt_at = ?, due_at = coalesce(?, due_at), updated_at = ?, reason = ?, dead_cause = ?, dead_at = ?
  WHERE id = ? AND state = 'leased' AND lease_epoch = ? AND attempts = ?`;
// Only for what died: the way of a success carries no empty columns along.
const DIE = MOVE_ON.replace('dead_at = ?', 'dead_at = ?, fingerprint = ?, last_error = ?');
// The same for many that were delivered. It names no column that stays as it is: SQLite would write its indexes anew.
const DELIVER: RowsStatement = {
  text: (rows) => `
    UPDATE OR FAIL deliveries SET updated_at = ?1, state = 'delivered', lease_epoch = NULL,
      attempts = done.column3, schedule_attempts = done.column4, max_attempts = done.column5,
      first_attempt_at = done.column6, reason = done.column7
    FROM (VALUES ${rows}) done
    WHERE id = done.column1 AND state = 'leased' AND lease_epoch = done.column2 AND attempts = done.column3 - 1`,
  row: '(?, ?, ?, ?, ?, ?, ?)',
};
// With the attempt in the same row (first-success.ts).
const DELIVER_AT_ONCE: RowsStatement = {
  text: (rows) => `
    UPDATE OR FAIL deliveries SET updated_at = ?1, state = 'delivered', lease_epoch = NULL, attempts = 1,
      schedule_attempts = 1, max_attempts = done.column3, first_attempt_at = done.column4, reason = done.column5,
      success_url = done.column6, success_status = done.column7, success_ms = done.column8,
      success_response = done.column9, success_truncated = done.column10
    FROM (VALUES ${rows}) done
    WHERE id = done.column1 AND state = 'leased' AND lease_epoch = done.column2 AND attempts = 0 AND due_at IS NULL`,
  row: '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
};
const ATTEMPTS = insertRows(`attempts (${ATTEMPT_COLUMNS})`);

export function record(db: Db, input: RecordInput): RecordOutput {
  const lanes = new DueLanes();
  const health = new HealthOfBatch((endpointId) => readHealth(db, endpointId));
  const attempts: SqlValue[] = [];
  const { areDelivered, inRow } = deliverTogether(db, input);
  const results = input.items.map((item) => {
    const { attempt } = item;
    if (!areDelivered || attempt.decision.kind !== 'delivered') {
      const endedAt = attempt.startedAt + attempt.durationMs;
      const next = nextState(attempt.decision, endedAt);
      const state = next.state === 'pending' ? waitingState(health.of(attempt.destinationId)) : next.state;
      const dead = next.state === 'dead';
      const moved = db.run(
        dead ? DIE : MOVE_ON,
        state,
        attempt.number,
        item.scheduleAttempts,
        item.maxAttempts ?? null,
        item.firstAttemptAt,
        state === 'cancelled' ? null : next.dueAt,
        input.now,
        attempt.decision.reason,
        next.deadCause,
        next.deadCause === null ? null : endedAt,
        ...(dead ? [errorFingerprint(attempt), errorLine(attempt)] : []),
        attempt.deliveryId,
        input.epoch,
        attempt.number - 1,
      );
      if (moved === 0) return 'lease_lost' as const;
      if (state === 'pending' && next.dueAt !== null) lanes.note(attempt.destinationId, next.dueAt);
    }
    if (!inRow.has(item)) addAttempt(attempts, attempt);
    health.apply(item);
    return 'recorded' as const;
  });
  db.runRows(ATTEMPTS, [], attempts);
  lanes.write(db);
  const { changes, endpoints } = health.changes();
  for (const change of changes) writeHealth(db, change.id, change.health, change.before);
  return { results, endpoints };
}

/** All that were delivered at once, or, where not every lease holds, none of them: then each is tried by itself. */
function deliverTogether(
  db: Db,
  { epoch, now, items }: RecordInput,
): {
  areDelivered: boolean;
  /** Those whose attempt is in the delivery's row. */
  inRow: ReadonlySet<RecordItem>;
} {
  const first: SqlValue[] = [];
  const others: SqlValue[] = [];
  const inRow = new Set<RecordItem>();
  const notDelivered = new Set<string>();
  let count = 0;
  for (const item of items) {
    const { attempt, scheduleAttempts, firstAttemptAt, maxAttempts = null } = item;
    const { deliveryId, number, decision, url, status, durationMs, response, responseTruncated } = attempt;
    if (decision.kind !== 'delivered') {
      notDelivered.add(deliveryId);
      continue;
    }
    // The first attempt of a delivery ends its lease: this one comes too late, and each is tried in its turn.
    if (notDelivered.has(deliveryId)) return NONE_TOGETHER;
    count += 1;
    if (isFirstSuccess(item)) {
      inRow.add(item);
      first.push(deliveryId, epoch, maxAttempts, firstAttemptAt, decision.reason);
      first.push(url, status, durationMs, response, storable(responseTruncated));
    } else others.push(deliveryId, epoch, number, scheduleAttempts, maxAttempts, firstAttemptAt, decision.reason);
  }
  if (count === 0) return NONE_TOGETHER;
  // Of one there is nothing to take back.
  if (count > 1) db.exec('SAVEPOINT deliver');
  const changed = db.runRows(DELIVER_AT_ONCE, [now], first) + db.runRows(DELIVER, [now], others);
  const isEach = changed === count;
  if (count > 1 && !isEach) db.exec('ROLLBACK TO deliver');
  if (count > 1) db.exec('RELEASE deliver');
  return isEach ? { areDelivered: true, inRow } : NONE_TOGETHER;
}

const NONE_TOGETHER = { areDelivered: false, inRow: new Set<RecordItem>() };

function nextState(decision: Decision, endedAt: number) {
  switch (decision.kind) {
    case 'delivered':
      return { state: 'delivered', dueAt: null, deadCause: null } as const;
    case 'retry':
      return { state: 'pending', dueAt: endedAt + decision.delayMs, deadCause: null } as const;
    case 'dead':
      return { state: 'dead', dueAt: null, deadCause: decision.cause } as const;
  }
}

export function insertAttempt(db: Db, attempt: Attempt): void {
  const values: SqlValue[] = [];
  addAttempt(values, attempt);
  db.runRows(ATTEMPTS, [], values);
}

function addAttempt(values: SqlValue[], attempt: Attempt): void {
  for (const value of attemptValues(attempt)) values.push(storable(value));
}
