import { takeJson, textOf } from '../providers/index.ts';

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded(?:\s*;|$)/i;

/**
 * A received body as a handler gets it: JSON parsed, a form as its fields, anything else as text. JSON without its
 * content type is common enough to be tried. Throws a SyntaxError for JSON that is none.
 */
export function parseBody(bytes: Uint8Array, contentType: string | undefined): unknown {
  if (contentType === undefined || JSON_TYPE.test(contentType)) return takeJson(bytes);
  if (FORM_TYPE.test(contentType)) return Object.fromEntries(new URLSearchParams(textOf(bytes)));
  try {
    return takeJson(bytes);
  } catch {
    return textOf(bytes);
  }
}
