/** Strict decoding: Buffer.from skips what it does not know, so that many texts would pass for one signature. */
export type Encoding = 'hex' | 'base64' | 'base64url';

/** The bytes, or undefined when `text` is not exactly `length` bytes in that encoding. */
export function decode(text: string, encoding: Encoding, length: number): Buffer | undefined {
  // Before anything is decoded: a stranger's megabyte must not be.
  if (text.length > length * 2) return undefined;
  const bytes = Buffer.from(text, encoding);
  if (bytes.length !== length) return undefined;
  // It ends at what is no digit: as many bytes as two digits each can be are digits all of them.
  if (encoding === 'hex') return bytes;
  return bytes.toString(encoding) === plain(text, encoding) ? bytes : undefined;
}

/** Base64 of any length up to `maxLength` bytes: signatures whose length depends on the key. */
export function decodeBase64(text: string, maxLength: number): Buffer | undefined {
  if (text.length > maxLength * 2) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.length <= maxLength && bytes.toString('base64') === text ? bytes : undefined;
}

function plain(text: string, encoding: Encoding): string {
  // Some write base64url with its padding; Node does not.
  return encoding === 'base64url' ? text.replace(/={1,2}$/, '') : text;
}
