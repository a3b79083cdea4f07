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

export function keptHeaders(
  headers: Readonly<Record<string, string>>,
  secrets: readonly string[],
): Record<string, string> {
  const kept: Record<string, string> = {};
  let bytes = 0;
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? '';
    if (CREDENTIALS.has(name) || secrets.some((secret) => value.includes(secret))) continue;
    bytes += name.length + value.length;
    if (bytes > MAX_BYTES) break;
    kept[name] = value;
  }
  return kept;
}
