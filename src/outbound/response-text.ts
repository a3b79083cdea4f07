/**
 * A response body as text for a person and a database.
 * - Nothing is decompressed (a bomb stays small): a body with Content-Encoding becomes `[gzip, 1234 bytes, not decoded]`.
 * - UTF-8 is kept as it is; a character that the cap has cut in two is dropped.
 * - Other bytes are read as Latin-1 if that gives printable text, else they become `[binary, 1234 bytes, not decoded]`.
 * - NUL, which PostgreSQL cannot store, becomes U+FFFD.
 */
import { isUtf8 } from 'node:buffer';

export function responseText(
  bytes: Buffer | undefined,
  truncated: boolean,
  contentEncoding: string | undefined,
): string {
  if (bytes === undefined || bytes.length === 0) return '';
  if (contentEncoding !== undefined && !/^\s*(identity\s*)?$/i.test(contentEncoding)) {
    return note(contentEncoding.replace(/[^\w ,.-]/g, '').slice(0, 40), bytes.length, truncated);
  }
  const text = truncated ? withoutCutCharacter(bytes) : bytes;
  if (isUtf8(text)) return text.toString('utf8').replaceAll('\0', '\uFFFD');
  const latin1 = bytes.toString('latin1');
  return UNPRINTABLE.test(latin1) ? note('binary', bytes.length, truncated) : latin1;
}

/** C0 and C1 controls other than tab, line feed, form feed and carriage return. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const UNPRINTABLE = /[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]/;

function note(what: string, length: number, truncated: boolean): string {
  return `[${what}, ${truncated ? 'more than ' : ''}${length} bytes, not decoded]`;
}

/** At most the last three bytes can belong to a character that has not ended. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
