/** What is stored of the headers that an event came with. */

/** Credentials by their name; those of a source are also known by their value. */
const CREDENTIALS = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-amz-security-token',
  'x-api-key',
  'x-auth-token',
]);
const MAX_BYTES = 16 * 1024;
/** A shorter secret, such as `push`, is in values that have nothing to do with it. */
const SHORTEST_SOUGHT = 8;

/** The very headers where nothing is to be left out, which is nearly always. */
export function keptHeaders(
  headers: Readonly<Record<string, string>>,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const names = Object.keys(headers);
  const kept: string[] = [];
  let bytes = 0;
  for (const name of names) {
    const value = headers[name] ?? '';
    if (CREDENTIALS.has(name) || secrets.some((secret) => holds(value, secret))) continue;
    bytes += name.length + value.length;
    if (bytes > MAX_BYTES) break;
    kept.push(name);
  }
  if (kept.length === names.length) return headers;
  return Object.fromEntries(kept.map((name) => [name, headers[name] ?? '']));
}

function holds(value: string, secret: string): boolean {
  return value === secret || (secret.length >= SHORTEST_SOUGHT && value.includes(secret));
}
