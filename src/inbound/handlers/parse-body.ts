const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded(?:\s*;|$)/i;

/**
 * A received body as a handler gets it: JSON parsed, a form as its fields, anything else as text. JSON without its
 * content type is common enough to be tried. Throws a SyntaxError for JSON that is none.
 */
export function parseBody(bytes: Uint8Array, contentType: string | undefined): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (contentType !== undefined && FORM_TYPE.test(contentType)) return Object.fromEntries(new URLSearchParams(text));
  if (contentType === undefined || JSON_TYPE.test(contentType)) return JSON.parse(text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
