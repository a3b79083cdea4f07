import type { ErrorKind, Outcome } from '../model/index.ts';

const WORDS: Readonly<Record<ErrorKind, string>> = {
  timeout: 'timeout',
  connect_timeout: 'connection timeout',
  connection_refused: 'connection refused',
  connection_reset: 'connection reset',
  dns: 'DNS failure',
  tls: 'TLS failure',
  network: 'network error',
  malformed_response: 'malformed response',
  blocked_address: 'blocked address',
  too_many_redirects: 'too many redirects',
  invalid_redirect: 'invalid redirect',
  interrupted: 'interrupted',
  unexpected: 'unexpected error',
  database: 'database error',
  redis: 'Redis error',
  validation: 'validation error',
  unknown_event_type: 'unknown event type',
  duplicate: 'duplicate',
  permanent: 'permanent error',
  retryable: 'retryable error',
};

/** An outcome in a word or two: `HTTP 503`, `connection refused`. */
export function describeOutcome(outcome: Outcome): string {
  return outcome.kind === 'response' ? `HTTP ${outcome.status}` : (WORDS[outcome.error] ?? outcome.error);
}
