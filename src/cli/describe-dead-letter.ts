/** A dead letter in words: what it is, what was to be sent, and what came back each time. */
import type { DeadLetterDetailOut } from '../api/index.ts';
import { table } from './table.ts';
import { printable } from './terminal-line.ts';

export type ShownDeadLetter = DeadLetterDetailOut;

/** A body longer than a screen or two is for --json. */
const LONGEST_BODY = 4000;

export function describeDeadLetter(shown: ShownDeadLetter): string {
  const { message, attempts } = shown;
  const facts = [
    ['owner', shown.applicationId],
    ['endpoint', shown.endpointId],
    ['event type', shown.eventType],
    ['message', message.eventId === null ? message.id : `${message.id} (${message.eventId})`],
    ['accepted', message.timestamp],
    ['died', `${shown.deadAt ?? ''}, ${shown.deadCause ?? ''}: ${shown.reason}`],
    ['error', shown.lastError ?? ''],
    ['fingerprint', shown.fingerprint ?? ''],
  ];
  const headers = Object.entries(message.headers ?? {}).map(([name, value]) => [`${name}:`, value]);
  return [
    `${shown.id}\n${rows(facts)}`,
    ...(headers.length === 0 ? [] : [`headers\n${rows(headers)}`]),
    `body${message.bodyEncoding === 'base64' ? ' (base64)' : ''}\n${bodyOf(message.body)}`,
    `attempts\n${rows(attempts.map(describeAttempt))}`,
  ].join('\n');
}

function describeAttempt(attempt: ShownDeadLetter['attempts'][number]): string[] {
  const outcome = attempt.error ?? `HTTP ${attempt.responseStatusCode}`;
  const { kind, reason } = attempt.decision;
  const what = [`${attempt.number}`, attempt.timestamp, `${attempt.responseDurationMs} ms`, outcome];
  return [...what, `${kind}: ${reason}`, attempt.response.slice(0, 200)];
}

function rows(cells: readonly (readonly string[])[]): string {
  return table(cells.map((row) => row.map(printable)));
}

function bodyOf(body: string): string {
  const cut =
    body.length > LONGEST_BODY ? `${body.slice(0, LONGEST_BODY)} … (${body.length} characters; --json has all)` : body;
  const lines = cut.split('\n').map((line) => `  ${printable(line)}\n`);
  return lines.join('');
}
