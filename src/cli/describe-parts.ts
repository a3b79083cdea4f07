/** What descriptions of messages have in common: facts in rows, a body that ends, attempts with their decisions. */
import type { DeadLetterDetailOut } from '../api/index.ts';
import { table } from './table.ts';
import { printable } from './terminal-line.ts';

/** A body longer than a screen or two is for --json. */
const LONGEST_BODY = 4000;

export function printableRows(cells: readonly (readonly string[])[], indent?: string): string {
  return table(
    cells.map((row) => row.map(printable)),
    indent,
  );
}

export function bodyLines(body: string): string {
  const cut =
    body.length > LONGEST_BODY ? `${body.slice(0, LONGEST_BODY)} … (${body.length} characters; --json has all)` : body;
  const lines = cut.split('\n').map((line) => `  ${printable(line)}\n`);
  return lines.join('');
}

export function describeAttempt(attempt: DeadLetterDetailOut['attempts'][number]): string[] {
  const outcome = attempt.error ?? `HTTP ${attempt.responseStatusCode}`;
  const { kind, reason } = attempt.decision;
  const what = [`${attempt.number}`, attempt.timestamp, `${attempt.responseDurationMs} ms`, outcome];
  return [...what, `${kind}: ${reason}`, attempt.response.slice(0, 200)];
}
