/**
 * The one error that Posthorn throws on purpose. Its `code` is the same in the library, in the API's answer and in
 * the CLI; its message says what happened and what to do about it. What a receiver or the network did is never an
 * error: that is an Outcome (model/outcome.ts).
 */
export type ErrorCode =
  | 'config_invalid'
  | 'validation'
  | 'not_found'
  | 'conflict'
  | 'idempotency_key_reused'
  | 'authentication_failed'
  | 'insufficient_access'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'endpoint_not_active'
  | 'missing_payload'
  | 'limit_reached'
  | 'store_locked'
  | 'store_unavailable'
  | 'store_too_new'
  | 'queue_unavailable'
  | 'not_ready'
  | 'closed';

/** One thing wrong with the input, and where: `['body', 'url']`. */
export interface Issue {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
}

export class PosthornError extends Error {
  override readonly name = 'PosthornError';
  readonly code: ErrorCode;
  readonly issues: readonly Issue[];
  /** A store's word that nothing was written. Without it nobody knows: the answer may have been lost after the commit. */
  readonly nothingStored: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; issues?: readonly Issue[]; nothingStored?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.issues = options.issues ?? [];
    this.nothingStored = options.nothingStored ?? false;
  }
}

export function isPosthornError(error: unknown, code?: ErrorCode): error is PosthornError {
  return error instanceof PosthornError && (code === undefined || error.code === code);
}

/** Bad input at one place: `invalid(['body', 'url'], 'must be an http or https URL')`. */
export function invalid(loc: readonly string[], msg: string, type = 'value_error'): PosthornError {
  return new PosthornError('validation', `${loc.join('.')}: ${msg}`, { issues: [{ loc, msg, type }] });
}

/** What everything that was closed answers, whichever part of it is asked. */
export function closed(): PosthornError {
  return new PosthornError(
    'closed',
    'This Posthorn was closed and takes nothing any more: use another node, or open it again (createPosthorn, or a restart of the server).',
  );
}

/** An unexpected throwable as text, for logs and attempt records. */
export function describeError(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  // As text it would be "[object Response]".
  if (error instanceof Response) return `HTTP ${error.status} from ${error.url || 'a server'}`;
  return String(error);
}
