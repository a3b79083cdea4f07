import { invalid } from '../../errors.ts';
import { parseJson } from './parsed-bodies.ts';
import type { InboundRequest } from './provider.ts';

export type Json = Readonly<Record<string, unknown>>;

/** A provider's body as an object, or undefined. For `verify`, which must not throw for what strangers send. */
export function parseObject(body: Uint8Array): Json | undefined {
  const value = parse(body);
  return isObject(value) ? value : undefined;
}

/**
 * To look for a signature in it. Anybody's body comes this far, and one of 2 MiB of brackets kept the event loop for 0.1 to 0.7 s
 * (November 2026); what these providers send is much smaller (a message of SNS, the largest, is 256 KiB).
 */
const LARGEST_UNVERIFIED_BYTES = 512 * 1024;

export function parseUnverified(body: Uint8Array): Json | undefined {
  return body.byteLength <= LARGEST_UNVERIFIED_BYTES ? parseObject(body) : undefined;
}

/** The same for `eventOf`, which comes after it. */
export function objectBody(request: InboundRequest): Json {
  const value = parseObject(request.body);
  if (value === undefined) throw invalid(['body'], 'must be a JSON object, which is what this provider sends');
  return value;
}

/** A provider that sends events in batches. */
export function arrayBody(request: InboundRequest): readonly Json[] {
  const value = parse(request.body);
  if (!Array.isArray(value) || value.length === 0 || !value.every(isObject)) {
    throw invalid(['body'], 'must be a JSON array of objects, which is what this provider sends');
  }
  return value;
}

/** What is at a path of names: `at(body, 'event-data', 'id')`. Inherited properties are not data. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value;
  for (const name of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined;
    current = (current as Record<string | number, unknown>)[name];
  }
  return current;
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A Buffer over the same memory. */
export function viewOf(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

function parse(body: Uint8Array): unknown {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}
