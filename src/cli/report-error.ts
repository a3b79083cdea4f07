import { type ErrorCode, isPosthornError } from '../errors.ts';
import type { Terminal } from './terminal.ts';

export const USAGE_EXIT_CODE = 2;
const FAILURE_EXIT_CODE = 1;

/** Wrong as given: trying again without changing something cannot help. */
const USAGE_CODES: readonly ErrorCode[] = ['config_invalid', 'validation'];

/** One message for a person, and the exit code. The stack is for who asks: POSTHORN_LOG_LEVEL=debug. */
export function reportError(error: unknown, terminal: Terminal): number {
  const message = error instanceof Error ? error.message : String(error);
  terminal.err(`posthorn: ${message}\n`);
  const wantsStack = ['debug', 'trace'].includes(terminal.env.POSTHORN_LOG_LEVEL ?? '');
  if (error instanceof Error && wantsStack) terminal.err(`${describeStack(error)}\n`);
  else if (!isPosthornError(error) && !isSystemError(error)) {
    terminal.err('This is a bug in Posthorn. POSTHORN_LOG_LEVEL=debug shows where it happened.\n');
  }
  return isPosthornError(error) && USAGE_CODES.includes(error.code) ? USAGE_EXIT_CODE : FAILURE_EXIT_CODE;
}

function describeStack(error: Error): string {
  const cause = error.cause instanceof Error ? `\nCaused by: ${describeStack(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
}

/** What the operating system said, such as EADDRINUSE: its message is clear enough. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string';
}
