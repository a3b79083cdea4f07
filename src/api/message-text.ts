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
  const { id, eventId, eventType, channels, tags, createdAt, payload } = message;
  const head = {
    id,
    eventId: eventId ?? null,
    eventType,
    channels: channels ?? null,
    tags: tags ?? null,
    timestamp: time(createdAt),
    ...more,
  };
  const text = withContent
    ? Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('utf8')
    : '{}';
  return withMember(JSON.stringify(head), 'payload', text);
}

/** The object's text with one more member, whose value is text already. */
export function withMember(object: string, name: string, value: string): string {
  return `${object.slice(0, -1)},"${name}":${value}}`;
}

export function listText<T>(listing: Listing<T>, toText: (item: T) => string): string {
  const { data, ...rest } = listing;
  return withMember(JSON.stringify(rest), 'data', `[${data.map(toText).join(',')}]`);
}
