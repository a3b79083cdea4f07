/**
 * What a handler threw, as an Outcome: the one place where errors of other people's libraries get our names. They are
 * known by their shape and never by their class, because an application may have several copies of a library.
 */
import type { ErrorKind, Outcome } from '../../model/index.ts';
import { databaseKind } from './database-error.ts';
import { SAYS } from './handler-errors.ts';
import { httpFailure } from './http-failure.ts';
import { networkKind } from './network-error.ts';
import { redisKind } from './redis-error.ts';
import { isValidationError } from './validation-error.ts';

const MAX_MESSAGE_CHARS = 4096;
const MAX_FRAMES = 6;
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
  for (const error of withCauses(thrown)) {
    const said = saidBy(error);
    if (said !== undefined) return failure(said, said === 'retryable' ? retryAfterOf(error) : undefined);
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
  // Nobody foresaw it: only where it was thrown says what is wrong.
  return { kind: 'failure', error: 'unexpected', message: cut(message + framesOf(thrown)), durationMs };
}

/** By name too: an error that was written down and read again is no class any more. */
function saidBy(error: object): 'permanent' | 'retryable' | undefined {
  const name = nameOf(error);
  const said = (error as { readonly [SAYS]?: unknown })[SAYS];
  if (said === 'permanent' || name === 'PermanentError') return 'permanent';
  return said === 'retryable' || name === 'RetryableError' ? 'retryable' : undefined;
}

/** The first lines of its stack that are a program's, each behind a line feed. */
function framesOf(thrown: unknown): string {
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  if (typeof stack !== 'string') return '';
  const frames = stack.split('\n').filter((line) => /^ {4}at /.test(line) && !line.includes('node:internal/'));
  return frames
    .slice(0, MAX_FRAMES)
    .map((frame) => `\n${frame}`)
    .join('');
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
  return cut(thrown instanceof Error ? describeError(thrown) : describeValue(thrown));
}

function cut(text: string): string {
  return text.length > MAX_MESSAGE_CHARS ? `${text.slice(0, MAX_MESSAGE_CHARS)}…` : text;
}

function describeError(error: Error): string {
  const { cause } = error;
  // Many libraries say again what their cause says.
  const more = cause instanceof Error && !error.message.includes(cause.message) ? ` (${cause.message})` : '';
  return `${error.name === 'Error' ? '' : `${error.name}: `}${error.message || 'no message'}${more}`;
}

function describeValue(thrown: unknown): string {
  if (isResponse(thrown)) return `HTTP ${thrown.status} from ${thrown.url || 'a server'}`;
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}

/** Of Node's fetch, or of a package's. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}
