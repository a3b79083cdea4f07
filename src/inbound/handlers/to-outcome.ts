/**
 * What a handler threw, as an Outcome: the one place where errors of other people's libraries get our names. They are
 * known by their shape and never by their class, because an application may have several copies of a library.
 */
import type { ErrorKind, Outcome } from '../../model/index.ts';
import { databaseKind } from './database-error.ts';
import { httpFailure } from './http-failure.ts';
import { networkKind } from './network-error.ts';
import { redisKind } from './redis-error.ts';
import { isValidationError } from './validation-error.ts';

const MAX_MESSAGE_CHARS = 4096;
/** fetch wraps a socket's error once or twice; a cause that points back at itself must not keep us. */
const MAX_CAUSES = 5;
/**
 * Answers that pass by themselves: the other server waited too long, is still at work on the same idempotency key (Stripe's
 * own client tries a 409 again), or wants it later. A policy's rule for 4xx would make them final.
 */
const LATER: ReadonlySet<number> = new Set([408, 409, 425]);

/** Never throws: a thrown thing that cannot even be looked at is an error too. */
export function toOutcome(thrown: unknown, durationMs: number): Outcome {
  try {
    return named(thrown, durationMs);
  } catch {
    const message = 'the handler threw something that cannot be read';
    return { kind: 'failure', error: 'unexpected', message, durationMs };
  }
}

function named(thrown: unknown, durationMs: number): Outcome {
  const message = describe(thrown);
  const failure = (error: ErrorKind, retryAfter?: string): Outcome => ({
    kind: 'failure',
    error,
    message,
    durationMs,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
  const name = nameOf(thrown);
  if (name === 'PermanentError') return failure('permanent');
  if (name === 'RetryableError') return failure('retryable', retryAfterOf(thrown));
  for (const error of withCauses(thrown)) {
    if (isValidationError(error)) return failure('validation');
    const http = httpFailure(error);
    if (http !== undefined) {
      // 410 means to the policy that this destination wants no more; here it is the answer of some other server.
      if (http.status === 410) return failure('permanent');
      if (LATER.has(http.status)) return failure('retryable', http.retryAfter);
      return { kind: 'response', ...http, body: message, bodyTruncated: false, durationMs };
    }
    const kind = databaseKind(error) ?? redisKind(error) ?? networkKind(error);
    if (kind !== undefined) return failure(kind);
  }
  return failure('unexpected');
}

function retryAfterOf(error: unknown): string | undefined {
  const { retryAfterS } = error as { retryAfterS?: unknown };
  return typeof retryAfterS === 'number' && retryAfterS >= 0 ? String(Math.ceil(retryAfterS)) : undefined;
}

/** The error, what it was caused by, and the parts of an AggregateError: a connection tried over several addresses. */
function withCauses(thrown: unknown): object[] {
  const found: object[] = [];
  let next: unknown = thrown;
  while (typeof next === 'object' && next !== null && found.length < MAX_CAUSES && !found.includes(next)) {
    found.push(next);
    const { cause, errors } = next as { cause?: unknown; errors?: unknown };
    next = cause ?? (nameOf(next) === 'AggregateError' && Array.isArray(errors) ? errors[0] : undefined);
  }
  return found;
}

function nameOf(thrown: unknown): string {
  const name = typeof thrown === 'object' && thrown !== null ? (thrown as { name?: unknown }).name : undefined;
  return typeof name === 'string' ? name : '';
}

function describe(thrown: unknown): string {
  const text = thrown instanceof Error ? describeError(thrown) : describeValue(thrown);
  return text.length > MAX_MESSAGE_CHARS ? `${text.slice(0, MAX_MESSAGE_CHARS)}…` : text;
}

function describeError(error: Error): string {
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.name === 'Error' ? '' : `${error.name}: `}${error.message || 'no message'}${cause}`;
}

function describeValue(thrown: unknown): string {
  if (thrown instanceof Response) return `HTTP ${thrown.status} from ${thrown.url || 'a server'}`;
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}
