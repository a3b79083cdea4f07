import type { PolicyRef } from './policy.ts';

/**
 * active: sends. paused: a person stopped it. failed: a delivery exhausted its retries and the policy says that this
 * stops the endpoint. disabled: switched off by its owner, or gone (410, `webhook-delivery: disable`).
 * Only an active endpoint is sent to; for the others messages are held, never dropped.
 */
export type EndpointStatus = 'active' | 'paused' | 'failed' | 'disabled';

/** A signing secret, possibly encrypted at rest (signing/secret-box.ts), live until `expiresAt` when it was rotated out. */
export interface EndpointSecret {
  readonly key: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
}

/** A destination: a URL (`ep_`), or a function in a process (`hdl_`, its url `handler:<name>`). */
export interface Endpoint {
  readonly id: string;
  /** Its owner: an application or a source. */
  readonly applicationId: string;
  readonly uid?: string;
  readonly url: string;
  readonly description: string;
  readonly version: number;
  /** Requests a second at most. */
  readonly rateLimit?: number;
  /** Requests at the same time at most; the server's default without it. */
  readonly maxInFlight?: number;
  readonly eventTypes?: readonly string[];
  readonly channels?: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  /** Custom request headers, names as given. */
  readonly headers: Readonly<Record<string, string>>;
  /** The newest first; the first one signs first. */
  readonly secrets: readonly EndpointSecret[];
  readonly policy?: PolicyRef;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What deliveries do to an endpoint. Kept by the store beside the record, changed by attempts as they are recorded. */
export interface EndpointHealth {
  readonly status: EndpointStatus;
  /** Why it is not active, for a person; empty when it is. */
  readonly reason: string;
  /** Failed attempts since the last success. */
  readonly failureCount: number;
  readonly lastSuccessAt?: number;
  readonly lastFailureAt?: number;
}

export const HEALTHY: EndpointHealth = { status: 'active', reason: '', failureCount: 0 };
