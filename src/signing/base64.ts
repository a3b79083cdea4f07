/**
 * Standard base64 with padding, or undefined. Buffer.from skips what it does not know, so that a secret with a line
 * break or a lost character would quietly become another secret.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
