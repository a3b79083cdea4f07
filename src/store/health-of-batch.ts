/** Endpoint health over one batch of attempts: read once, changed in their order, written once where it is worth it. */
import type { EndpointHealth, EndpointStatus } from '../model/index.ts';
import { healthAfter } from '../policy/index.ts';
import type { ChangedEndpoint, RecordItem } from './recording.ts';

/** A success on a healthy endpoint changes only when it last succeeded: told this exactly, and no write a batch. */
export const LAST_SUCCESS_RESOLUTION_MS = 1000;

export interface HealthChange {
  readonly id: string;
  readonly applicationId: string;
  readonly before: EndpointStatus;
  readonly health: EndpointHealth;
}

export class HealthOfBatch {
  readonly #read: (endpointId: string) => EndpointHealth | undefined;
  readonly #before = new Map<string, EndpointHealth | undefined>();
  readonly #after = new Map<string, { readonly health: EndpointHealth; readonly applicationId: string }>();

  /** `read` answers undefined for what is gone, or must not be touched. */
  constructor(read: (endpointId: string) => EndpointHealth | undefined) {
    this.#read = read;
  }

  of(endpointId: string): EndpointHealth | undefined {
    const current = this.#after.get(endpointId)?.health;
    if (current !== undefined) return current;
    if (!this.#before.has(endpointId)) this.#before.set(endpointId, this.#read(endpointId));
    return this.#before.get(endpointId);
  }

  apply({ attempt, firstAttemptAt }: RecordItem): void {
    // An attempt that we broke off says nothing about the endpoint.
    if (attempt.error === 'interrupted') return;
    const health = this.of(attempt.destinationId);
    if (health === undefined) return;
    const { decision, applicationId } = attempt;
    const after = healthAfter(health, {
      kind: decision.kind === 'delivered' ? 'success' : 'failure',
      at: attempt.startedAt + attempt.durationMs,
      firstAttemptAt,
      decision,
    });
    this.#after.set(attempt.destinationId, { health: after, applicationId });
  }

  /** What to write, and what of it to tell. */
  changes(): { changes: HealthChange[]; endpoints: ChangedEndpoint[] } {
    const changes: HealthChange[] = [];
    const endpoints: ChangedEndpoint[] = [];
    for (const [id, { health, applicationId }] of this.#after) {
      const before = this.#before.get(id);
      if (before === undefined) continue;
      const statusChanged = before.status !== health.status;
      const telling = statusChanged || before.failureCount !== health.failureCount;
      const freshEnough = (health.lastSuccessAt ?? 0) - (before.lastSuccessAt ?? 0) < LAST_SUCCESS_RESOLUTION_MS;
      if (!telling && freshEnough) continue;
      changes.push({ id, applicationId, before: before.status, health });
      if (telling) endpoints.push({ id, applicationId, health, statusChanged });
    }
    return { changes, endpoints };
  }
}
