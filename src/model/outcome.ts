/**
 * What happened in one attempt, as a value. A failing receiver is never an exception.
 */

/** What became of a request without an HTTP answer; the sender tells it in words of its own. */
export const SENDING_ERROR_KINDS = [
  // what the network did
  'timeout',
  'connect_timeout',
  'connection_refused',
  'connection_reset',
  'dns',
  'tls',
  'network',
  'malformed_response',
  // what we refused to do
  'blocked_address',
  'too_many_redirects',
  'invalid_redirect',
] as const;

/** Every way in which an attempt can fail without an HTTP answer. Policies classify by these names. */
export const ERROR_KINDS = [
  ...SENDING_ERROR_KINDS,
  // what happened on our side
  'interrupted',
  'unexpected',
  // what a handler met (receiving)
  'database',
  'redis',
  'validation',
  'unknown_event_type',
  'duplicate',
  'permanent',
  'retryable',
] as const;

export type ErrorKind = (typeof ERROR_KINDS)[number];

export interface ResponseOutcome {
  readonly kind: 'response';
  readonly status: number;
  /** Raw `Retry-After`, if the answer had one. */
  readonly retryAfter?: string;
  /** Raw `webhook-delivery` (`abort-message` or `disable`), if the answer had one. */
  readonly webhookDelivery?: string;
  /** The body as received (never decompressed), cut at the cap. */
  readonly body: string;
  readonly bodyTruncated: boolean;
  readonly durationMs: number;
}

export interface FailureOutcome {
  readonly kind: 'failure';
  readonly error: ErrorKind;
  /** One line for a person: "connection refused by 127.0.0.1:9". Of what a handler threw and nobody knows, its stack follows. */
  readonly message: string;
  /** When a handler says when to come back, as `Retry-After` does. */
  readonly retryAfter?: string;
  readonly durationMs: number;
}

export type Outcome = ResponseOutcome | FailureOutcome;
