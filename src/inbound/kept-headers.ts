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
    if (CREDENTIALS.has(name) || secrets.some((secret) => value.includes(secret))) continue;
    bytes += name.length + value.length;
    if (bytes > MAX_BYTES) break;
    kept.push(name);
  }
  if (kept.length === names.length) return headers;
  return Object.fromEntries(kept.map((name) => [name, headers[name] ?? '']));
}
