/** The id by which a second copy of an event is known. */
import { createHash } from 'node:crypto';
import type { Dedupe } from '../model/index.ts';
import type { InboundEvent, InboundRequest } from './providers/index.ts';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,256}$/;
/** Half a pair, or the sign that bytes which are no UTF-8 are read as: many different texts come to the same bytes so. */
const NO_TEXT = /[\ud800-\udfff\ufffd]/u;

/**
 * What the source says it is; where an event has none there, the hash of its bytes: two copies of one request are
 * always one event.
 */
export function eventKey(dedupe: Dedupe, request: InboundRequest, event: InboundEvent): string {
  return asKey(namedValue(dedupe, request, event)) ?? `sha256_${sha256(request.body)}`;
}

function namedValue(dedupe: Dedupe, request: InboundRequest, event: InboundEvent): unknown {
  switch (dedupe.by) {
    case 'provider':
      return event.id;
    case 'header':
      return Object.hasOwn(request.headers, dedupe.name) ? request.headers[dedupe.name] : undefined;
    case 'json':
      return atPath(request.body, dedupe.path);
    case 'body':
      return undefined;
  }
}

/** What is too long or has odd characters is kept as its hash: it is still one id for one value. */
function asKey(value: unknown): string | undefined {
  // Beyond 2^53 two numbers are read as one: they would be copies of each other.
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || text === '' || NO_TEXT.test(text)) return undefined;
  return VISIBLE_ASCII.test(text) ? text : `sha256_${sha256(Buffer.from(text))}`;
}

function atPath(body: Uint8Array, path: string): unknown {
  try {
    let value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    for (const key of path.split('.')) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
      value = (value as Readonly<Record<string, unknown>>)[key];
    }
    return value;
  } catch {
    return undefined;
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
