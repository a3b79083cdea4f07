/** Payloads as bytes. Text and bytes are kept exactly as given, because receivers verify signatures over them. */
import { isUtf8 } from 'node:buffer';
import { invalid, PosthornError } from '../errors.ts';

/** An object is printed once; text or bytes must be a JSON object and are sent as they are. */
export type Payload = object | string | Uint8Array;

const encoder = new TextEncoder();

/** UTF-8, never a slice of a larger buffer: it waits in memory, and would keep all of it there. */
export function toPayloadBytes(payload: Payload, loc: readonly string[]): Uint8Array {
  if (payload instanceof Uint8Array) {
    if (!isUtf8(payload)) throw invalid(loc, 'must be UTF-8');
    checkText(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('utf8'), loc);
    return new Uint8Array(payload);
  }
  if (typeof payload === 'string') checkText(payload, loc);
  return encoder.encode(typeof payload === 'string' ? payload : print(payload, loc));
}

export function checkSize(bytes: Uint8Array, maxBytes: number): void {
  if (bytes.byteLength <= maxBytes) return;
  throw new PosthornError(
    'payload_too_large',
    `The payload has ${bytes.byteLength} bytes and the limit is ${maxBytes}; send a reference to the data instead`,
  );
}

function checkText(text: string, loc: readonly string[]): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw invalid(loc, `is not valid JSON: ${(cause as Error).message}`, 'value_error.jsondecode');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAnObject(loc);
}

function print(payload: object, loc: readonly string[]): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(payload);
  } catch (cause) {
    throw invalid(loc, `cannot be written as JSON: ${(cause as Error).message}`);
  }
  // toJSON may turn an object into anything: a Date prints as a string.
  if (text?.charCodeAt(0) !== 0x7b) throw notAnObject(loc);
  if (text === '{}') checkEmpty(payload, loc);
  return text;
}

/** What JSON cannot show prints as an object without members: a receiver would get that, and nobody would know. */
function checkEmpty(payload: object, loc: readonly string[]): void {
  if (payload instanceof Promise) throw invalid(loc, 'is a promise: await it first', 'type_error');
  if (payload instanceof Map || payload instanceof Set) {
    throw invalid(loc, 'is a Map or a Set, which JSON cannot show: make it an object first', 'type_error');
  }
}

function notAnObject(loc: readonly string[]): PosthornError {
  return invalid(loc, 'must be a JSON object, for example {"id": 1}', 'type_error');
}
