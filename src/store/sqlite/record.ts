import type { Attempt, Decision } from '../../model/index.ts';
import { errorFingerprint, errorLine } from '../../policy/index.ts';
import { HealthOfBatch } from '../health-of-batch.ts';
import { ATTEMPT_COLUMNS, attemptValues } from '../row-values.ts';
import type { RecordInput, RecordOutput } from '../store.ts';
import { storable } from './dialect.ts';
import type { Db, SqlValue } from './driver.ts';
import { DueLanes } from './lanes.ts';
import { readHealth, waitingState, writeHealth } from './set-status.ts';

// The number of attempts tells a repeated write, whose answer was lost, from one under the node's next lease.
const MOVE_ON = `
  UPDATE deliveries SET state = ?, lease_epoch = NULL, attempts = ?, schedule_attempts = ?, max_attempts = ?,
    first_attempt_at = ?, due_at = ?, updated_at = ?, reason = ?, dead_cause = ?, dead_at = ?
  WHERE id = ? AND state = 'leased' AND lease_epoch = ? AND attempts = ?`;
// Only for what died: the way of a success carries no empty columns along.
const DIE = MOVE_ON.replace('dead_at = ?', 'dead_at = ?, fingerprint = ?, last_error = ?');
const ATTEMPTS = `attempts (${ATTEMPT_COLUMNS})`;

export function record(db: Db, input: RecordInput): RecordOutput {
  const lanes = new DueLanes();
  const health = new HealthOfBatch((endpointId) => readHealth(db, endpointId));
  const attempts: SqlValue[][] = [];
  const results = input.items.map((item) => {
    const { attempt } = item;
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
    attempts.push(attemptRow(attempt));
    if (state === 'pending' && next.dueAt !== null) lanes.note(attempt.destinationId, next.dueAt);
    health.apply(item);
    return 'recorded' as const;
  });
  db.insert(ATTEMPTS, attempts);
  lanes.write(db);
  const { changes, endpoints } = health.changes();
  for (const change of changes) writeHealth(db, change.id, change.health, change.before);
  return { results, endpoints };
}

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
  db.insert(ATTEMPTS, [attemptRow(attempt)]);
}

function attemptRow(attempt: Attempt): SqlValue[] {
  return attemptValues(attempt).map(storable);
}
