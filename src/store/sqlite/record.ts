import type { Attempt, Decision, EndpointHealth } from '../../model/index.ts';
import { errorFingerprint, errorLine, healthAfter } from '../../policy/index.ts';
import { ATTEMPT_COLUMNS, attemptValues } from '../row-values.ts';
import type { ChangedEndpoint, RecordInput, RecordItem, RecordOutput } from '../store.ts';
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
  const health = new HealthOfBatch(db);
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
    // An attempt that we broke off says nothing about the endpoint.
    if (attempt.error !== 'interrupted') health.apply(item, endedAt);
    return 'recorded' as const;
  });
  db.insert(ATTEMPTS, attempts);
  lanes.write(db);
  return { results, endpoints: health.write() };
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

/** Endpoint health over one batch: read once, changed in the attempts' order, written once where it changed. */
class HealthOfBatch {
  readonly #db: Db;
  readonly #before = new Map<string, EndpointHealth | undefined>();
  readonly #after = new Map<string, { health: EndpointHealth; applicationId: string }>();

  constructor(db: Db) {
    this.#db = db;
  }

  apply(item: RecordItem, endedAt: number): void {
    const { attempt } = item;
    const health = this.of(attempt.destinationId);
    if (health === undefined) return;
    const { decision } = attempt;
    const after = healthAfter(health, {
      kind: decision.kind === 'delivered' ? 'success' : 'failure',
      at: endedAt,
      firstAttemptAt: item.firstAttemptAt,
      decision,
    });
    this.#after.set(attempt.destinationId, { health: after, applicationId: attempt.applicationId });
  }

  write(): ChangedEndpoint[] {
    const changed: ChangedEndpoint[] = [];
    for (const [id, { health, applicationId }] of this.#after) {
      const before = this.#before.get(id);
      // A success on a healthy endpoint changes only lastSuccessAt: not worth a write a batch, nor a report.
      const telling = before?.status !== health.status || before.failureCount !== health.failureCount;
      const freshEnough = (health.lastSuccessAt ?? 0) - (before?.lastSuccessAt ?? 0) < LAST_SUCCESS_RESOLUTION_MS;
      if (!telling && freshEnough) continue;
      writeHealth(this.#db, id, health, before?.status);
      const statusChanged = before?.status !== health.status;
      if (telling) changed.push({ id, applicationId, health, statusChanged });
    }
    return changed;
  }

  of(endpointId: string): EndpointHealth | undefined {
    const current = this.#after.get(endpointId)?.health;
    if (current !== undefined) return current;
    if (!this.#before.has(endpointId)) this.#before.set(endpointId, readHealth(this.#db, endpointId));
    return this.#before.get(endpointId);
  }
}

const LAST_SUCCESS_RESOLUTION_MS = 1000;
