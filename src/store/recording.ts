/** What goes into `record`, `transact` and `setStatus`, and what comes out. */
import type { Attempt, EndpointHealth, EndpointStatus } from '../model/index.ts';

export interface RecordItem {
  readonly attempt: Attempt;
  /** The delivery's attempts in this schedule, this one included. */
  readonly scheduleAttempts: number;
  readonly firstAttemptAt: number;
  /** How many attempts the policy allows in a schedule. */
  readonly maxAttempts?: number;
}

export interface RecordInput {
  readonly epoch: number;
  readonly now: number;
  readonly items: readonly RecordItem[];
}

export interface RecordOutput {
  readonly results: readonly ('recorded' | 'lease_lost')[];
  /** Endpoints whose health these attempts changed, with the health after the batch. */
  readonly endpoints: readonly ChangedEndpoint[];
}

export interface ChangedEndpoint {
  readonly id: string;
  readonly applicationId: string;
  readonly health: EndpointHealth;
  readonly statusChanged: boolean;
}

export interface TransactInput {
  readonly epoch: number;
  readonly now: () => number;
  /** How long the work may take. Waiting for a connection is not part of it, and has no limit. */
  readonly timeoutMs: number;
}

/** A connection of the database's own kind, inside the transaction: for PostgreSQL, what `query` of `pg` does. */
export interface TransactClient {
  query(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly unknown[]; readonly rowCount: number | null }>;
}

export type TransactWork = (client: TransactClient) => Promise<RecordItem | undefined>;

export interface TransactOutput {
  /** `ended`: the work ended the transaction itself. What it wrote before that is as it left it, and nothing is recorded. */
  readonly result: 'recorded' | 'lease_lost' | 'rolled_back' | 'ended';
  readonly endpoints: readonly ChangedEndpoint[];
}

export interface SetStatusInput {
  readonly endpointId: string;
  readonly status: EndpointStatus;
  readonly reason: string;
  readonly now: number;
}
