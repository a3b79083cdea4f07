/**
 * JSON bodies that were parsed a moment ago, to be read by their provider: the handler of an event that goes straight on from
 * memory need not parse it again, which took a twentieth of the event loop's time. Whoever takes one owns it, since handlers may
 * change what they are given. Strangers can fill this, and what is parsed may take twenty times its text: the last few are kept.
 */
const MOST_BYTES = 512 * 1024;
const LARGEST_BYTES = 16 * 1024;

const kept = new Map<Uint8Array, unknown>();
let keptBytes = 0;

/** Throws a SyntaxError for what is no JSON. */
export function parseJson(body: Uint8Array): unknown {
  if (kept.has(body)) return kept.get(body);
  const value: unknown = JSON.parse(textOf(body));
  if (body.byteLength <= LARGEST_BYTES) keep(body, value);
  return value;
}

/** The same, for one who may change it. */
export function takeJson(body: Uint8Array): unknown {
  if (!kept.has(body)) return JSON.parse(textOf(body));
  const value = kept.get(body);
  forget(body);
  return value;
}

export function textOf(body: Uint8Array): string {
  const buffer = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return buffer.toString('utf8');
}

function keep(body: Uint8Array, value: unknown): void {
  kept.set(body, value);
  keptBytes += body.byteLength;
  if (keptBytes <= MOST_BYTES) return;
  for (const oldest of kept.keys()) {
    if (keptBytes <= MOST_BYTES) return;
    forget(oldest);
  }
}

function forget(body: Uint8Array): void {
  if (kept.delete(body)) keptBytes -= body.byteLength;
}
