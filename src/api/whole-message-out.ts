import { isUtf8 } from 'node:buffer';
import type { Message } from '../model/index.ts';
import { countByState, type ListedMessage, type LoggedMessage } from '../resources/index.ts';
import type { LoggedDetailOut, LoggedOut, WholeMessageOut } from './contract-message-log.ts';
import { deliveryDetailOut } from './delivery-out.ts';
import { time } from './wire.ts';

/** With its exact bytes, whatever they are: what is received need not be JSON, or text. */
export function wholeMessageOut(message: Message): WholeMessageOut {
  const { id, eventId, eventType, createdAt, contentType, headers, payload } = message;
  const bodyEncoding = isUtf8(payload) ? 'utf8' : 'base64';
  return {
    id,
    eventId: eventId ?? null,
    eventType,
    timestamp: time(createdAt),
    contentType: contentType ?? null,
    headers: headers === undefined ? null : { ...headers },
    body: Buffer.from(payload).toString(bodyEncoding),
    bodyEncoding,
  };
}

export function loggedOut({ message, deliveryCounts }: ListedMessage): LoggedOut {
  const { id, applicationId, eventId, eventType, createdAt, payload, conflicts = 0 } = message;
  return {
    id,
    applicationId,
    eventId: eventId ?? null,
    eventType,
    timestamp: time(createdAt),
    bytes: payload.byteLength,
    conflicts,
    deliveryCounts,
  };
}

export function loggedDetailOut({ message, deliveries }: LoggedMessage): LoggedDetailOut {
  const deliveryCounts = countByState(deliveries.map(({ delivery }) => delivery));
  const whole = { ...loggedOut({ message, deliveryCounts }), ...wholeMessageOut(message) };
  return { ...whole, deliveries: deliveries.map(deliveryDetailOut) };
}
