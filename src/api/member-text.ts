/**
 * The exact text of one member of a JSON object: what a publisher wrote, not what parsing and printing make of it
 * (12345678901234567890 would lose digits, 1.0 its point, and a signature over the original would no longer match).
 * Expects bytes that JSON.parse has accepted as an object; finds the last member of that name, as JSON.parse does.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;
/** Beyond this, a search in native code has made up for its call. */
const SHORT_STRING = 32;

/** A copy over its own buffer, or undefined if there is no such member. `name` is ASCII. */
export function memberText(json: Buffer, name: string): Uint8Array | undefined {
  let [from, to] = [0, 0];
  let at = skipSpace(json, 0);
  if (json[at] !== OPEN_BRACE) return undefined;
  do {
    const keyAt = skipSpace(json, at + 1);
    if (json[keyAt] !== QUOTE) break;
    const keyEnd = endOfString(json, keyAt);
    const start = skipSpace(json, skipSpace(json, keyEnd) + 1);
    const end = endOfValue(json, start);
    if (keyIs(json, keyAt + 1, keyEnd - 1, name)) [from, to] = [start, end];
    at = skipSpace(json, end);
  } while (json[at] === COMMA);
  return to === 0 ? undefined : new Uint8Array(json.subarray(from, to));
}

function keyIs(json: Buffer, start: number, end: number, name: string): boolean {
  let same = 0;
  for (let at = start; at < end; at++) {
    if (json[at] === BACKSLASH) return JSON.parse(`"${json.toString('utf8', start, end)}"`) === name;
    if (json[at] === name.charCodeAt(at - start)) same++;
  }
  return same === name.length && end - start === name.length;
}

function skipSpace(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && (json[at] as number) <= SPACE) at++;
  return at;
}

function endOfString(json: Buffer, openAt: number): number {
  let at = openAt + 1;
  const soon = Math.min(json.length, at + SHORT_STRING);
  while (at < soon) {
    const byte = json[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return endOfLongString(json, at);
}

/** A quote ends the string unless an odd number of backslashes is before it; `from` is not inside an escape. */
function endOfLongString(json: Buffer, from: number): number {
  let quoteAt = json.indexOf(QUOTE, from);
  while (quoteAt !== -1) {
    let before = quoteAt;
    while (before > from && json[before - 1] === BACKSLASH) before--;
    if ((quoteAt - before) % 2 === 0) return quoteAt + 1;
    quoteAt = json.indexOf(QUOTE, quoteAt + 1);
  }
  return json.length;
}

function endOfValue(json: Buffer, start: number): number {
  let depth = 0;
  let at = start;
  while (at < json.length) {
    const byte = json[at];
    if (byte === QUOTE) {
      at = endOfString(json, at);
      if (depth === 0) return at;
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (byte === COMMA || (byte as number) <= SPACE)) return at;
    at++;
  }
  return at;
}
