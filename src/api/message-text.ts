/**
 * Messages as JSON text, with the payload's own text inside: parsing and printing it would show other numbers than the
 * receiver gets, and cost time for nothing.
 */
import type { FastifyReply } from 'fastify';
import type { Message } from '../model/index.ts';
import type { Listing } from '../resources/index.ts';
import { time } from './wire.ts';

/** Sends what is JSON text already. */
export function sendText(reply: FastifyReply, text: string, status = 200): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(text);
}

/** `more` are fields beside the message's own. */
export function messageText(message: Message, withContent: boolean, more: object = {}): string {
  const { id, eventId, eventType, channels, tags, createdAt } = message;
  const head = {
    id,
    eventId: eventId ?? null,
    eventType,
    channels: channels ?? null,
    tags: tags ?? null,
    timestamp: time(createdAt),
    ...receivedWith(message),
    ...more,
  };
  return withMember(JSON.stringify(head), 'payload', withContent ? payloadText(message) : '{}');
}

/** What only received messages have. */
function receivedWith({ headers, contentType, conflicts }: Message): object {
  return headers === undefined ? {} : { headers, contentType: contentType ?? null, conflicts: conflicts ?? 0 };
}

/** As it is stored. What was received may be anything: what is no JSON is shown as a string. */
function payloadText({ payload, headers }: Message): string {
  const text = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('utf8');
  return headers === undefined || isJson(text) ? text : JSON.stringify(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The object's text with one more member, whose value is text already. */
export function withMember(object: string, name: string, value: string): string {
  return `${object.slice(0, -1)},"${name}":${value}}`;
}

export function listText<T>(listing: Listing<T>, toText: (item: T) => string): string {
  const { data, ...rest } = listing;
  return withMember(JSON.stringify(rest), 'data', `[${data.map(toText).join(',')}]`);
}
