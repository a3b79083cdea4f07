/** What a handler throws to say what should follow, whatever the policy thinks of other errors. */

/** By which these are known in every copy of this library, and whatever name a subclass gives itself. */
export const SAYS = Symbol.for('posthorn.says');

/** This will work later: the schedule goes on, or after `retryAfterS` seconds. */
export class RetryableError extends Error {
  override readonly name: string = 'RetryableError';
  readonly retryAfterS: number | undefined;

  constructor(message: string, options: { cause?: unknown; retryAfterS?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfterS = options.retryAfterS;
  }

  get [SAYS](): 'retryable' {
    return 'retryable';
  }
}

/** This will never work: the event becomes a dead letter at once. */
export class PermanentError extends Error {
  override readonly name: string = 'PermanentError';

  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
  }

  get [SAYS](): 'permanent' {
    return 'permanent';
  }
}
