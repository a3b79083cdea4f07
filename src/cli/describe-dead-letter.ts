/** A dead letter in words: what it is, what was to be sent, and what came back each time. */
import type { DeadLetterDetailOut } from '../api/index.ts';
import { bodyLines, describeAttempt, printableRows as rows } from './describe-parts.ts';
import { type Names, withId } from './names.ts';

export type ShownDeadLetter = DeadLetterDetailOut;

export async function describeDeadLetter(shown: ShownDeadLetter, names: Names): Promise<string> {
  const { message, attempts, applicationId, endpointId } = shown;
  const facts = [
    ['owner', withId(await names.owner(applicationId), applicationId)],
    ['endpoint', withId(await names.endpoint(applicationId, endpointId), endpointId)],
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
    `body${message.bodyEncoding === 'base64' ? ' (base64)' : ''}\n${bodyLines(message.body)}`,
    `attempts\n${rows(attempts.map(describeAttempt))}`,
  ].join('\n');
}
