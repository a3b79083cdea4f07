/** What went wrong, told from SQLSTATEs and socket errors: what may be tried again, and what a person is told. */
import { describeError, isPosthornError, PosthornError } from '../../errors.ts';

/** Nothing was written: the server chose this transaction to give way to another. */
const RETRYABLE = new Set(['40001', '40P01']);
const READ_ONLY = '25006';
const DISK_FULL = '53100';
const TOO_MANY_CONNECTIONS = '53300';
const TIMED_OUT = '57014';
const BAD_TEXT = new Set(['22021', '22P05']);
/** Classes and codes that say that the server is gone, going, or not there yet. */
const LOST_STATES = /^(08|57P0[1-5]|25P03)/;
const SOCKET_ERRORS = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_)/;
const LOST_MESSAGES =
  /Connection terminated|connection timeout|timeout exceeded when trying|Client has encountered|not queryable/i;

export function sqlState(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

export function isRetryable(error: unknown): boolean {
  return RETRYABLE.has(sqlState(error));
}

export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === READ_ONLY;
}

/** After this error nobody knows whether what was sent last was done. */
export function isLostConnection(error: unknown): boolean {
  const code = sqlState(error);
  if (LOST_STATES.test(code) || SOCKET_ERRORS.test(code)) return true;
  if (error instanceof AggregateError) return error.errors.some(isLostConnection);
  return error instanceof Error && LOST_MESSAGES.test(error.message);
}

/** Whether a unique index, by its name, refused a row. */
export function violates(error: unknown, constraint: string): boolean {
  return sqlState(causeOf(error)) === '23505' && (causeOf(error) as { constraint?: string }).constraint === constraint;
}

/** Whether a column refused NULL: how a statement of ours says that another transaction was faster. */
export function leavesEmpty(error: unknown, table: string, column: string): boolean {
  const cause = causeOf(error) as { table?: string; column?: string };
  return sqlState(cause) === '23502' && cause.table === table && cause.column === column;
}

function causeOf(error: unknown): object {
  return (typeof error === 'object' && error) || {};
}

export function explain(error: unknown): unknown {
  if (isPosthornError(error)) return error;
  const code = sqlState(error);
  const say = (what: string, nothingStored = true) =>
    new PosthornError('store_unavailable', what, { cause: error, nothingStored });
  if (code === READ_ONLY) {
    return say(
      'PostgreSQL takes no writes here (it is a standby, or read-only after a fail-over): nothing was stored. Point POSTHORN_STORE at the primary; Posthorn goes on by itself once it can write.',
    );
  }
  if (code === DISK_FULL) return say("PostgreSQL's disk is full: nothing was stored. Free some space and try again.");
  if (code === TOO_MANY_CONNECTIONS) {
    return say(
      'PostgreSQL has no connection left (max_connections): nothing was stored. Raise it, or run fewer nodes.',
    );
  }
  if (code === TIMED_OUT) {
    return say(
      'PostgreSQL took too long for a statement: nothing was stored. Look for a lock or an overloaded disk, and try again.',
    );
  }
  if (BAD_TEXT.has(code)) {
    return new PosthornError(
      'validation',
      'A text contains the NUL character, which PostgreSQL cannot store: leave it out.',
      { cause: error, nothingStored: true },
    );
  }
  if (isLostConnection(error)) {
    return say(
      `The connection to PostgreSQL failed (${describeConnection(error)}). Whether the last write was done is not known: repeat it with the same idempotency key or event id. Posthorn reconnects by itself; if it does not, check the server and POSTHORN_STORE.`,
      false,
    );
  }
  return error;
}

/** A connection that was never made has carried nothing. */
export function explainConnect(error: unknown): unknown {
  const explained = explain(error);
  if (!isLostConnection(error)) return explained;
  return new PosthornError(
    'store_unavailable',
    `PostgreSQL cannot be reached (${describeConnection(error)}): nothing was stored. Posthorn tries again by itself; if it stays so, check the server and POSTHORN_STORE.`,
    { cause: error, nothingStored: true },
  );
}

/** After a commit of the same operation: whatever this error says of itself, something was stored. */
export function afterCommit(error: unknown): unknown {
  if (!isPosthornError(error)) return error;
  return new PosthornError(
    error.code,
    `A part of this was stored, and then: ${error.message} Repeat it with the same idempotency keys or event ids.`,
    { cause: error },
  );
}

function describeConnection(error: unknown): string {
  // Node tries every address of a host and wraps what came of it in an error without a text.
  const told = error instanceof AggregateError ? error.errors[0] : error;
  return describeError(told) || sqlState(error);
}
