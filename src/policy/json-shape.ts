/** A JSON answer as the error that it tells: its fields, and the words of those fields that say what went wrong. */

/** Names of fields whose text tells one error from another; in all others a text is somebody's data. */
const TELLING =
  /^(?:errors?|error_?(?:code|type|description|message)|codes?|types?|messages?|msg|details?|title|reason|kind|name|status|description)$/i;
const DEEPEST = 5;
const MOST_FIELDS = 40;

/** Undefined when the text is no JSON object or list. `words` takes out of a text what differs from event to event. */
export function jsonShape(text: string, words: (text: string) => string): string | undefined {
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined;
  try {
    return shape(JSON.parse(text), false, 0, words);
  } catch {
    return undefined;
  }
}

function shape(value: unknown, telling: boolean, depth: number, words: (text: string) => string): string {
  if (typeof value === 'string') return telling ? words(value) : '<text>';
  if (typeof value === 'number') return '<n>';
  if (typeof value !== 'object' || value === null) return String(value);
  if (depth === DEEPEST) return '…';
  // How many things were wrong differs from event to event; what the first one was says enough.
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${shape(value[0], telling, depth + 1, words)}]`;
  const fields = Object.entries(value)
    .slice(0, MOST_FIELDS)
    .map(([name, field]) => `${words(name)}:${shape(field, TELLING.test(name), depth + 1, words)}`);
  return `{${fields.sort().join(',')}}`;
}
