/** Times as people and programs write them. */

/** `2030-01-31`, `2030-01-31 12:00`, `2030-01-31T12:00:00.123Z`, `…+02:00`: a "+" that a client forgot to encode arrives as a space. */
const ISO_TIME =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:(Z)|([-+ ])(\d\d)(?::?(\d\d))?)?)?$/i;
const MINUTE_MS = 60_000;

/**
 * Milliseconds since the epoch; undefined for what is no ISO 8601 date or time, or none that exists. `Date.parse` takes
 * nearly everything: `7` is July 2001 to it, and the 31st of February a day in March. Without an offset it is UTC, as
 * lists show times.
 */
export function parseIsoTime(text: string): number | undefined {
  const [whole, day = '', minute = '00:00', second = '00', part = '0', , sign = '+', hours = '0', minutes = '0'] =
    ISO_TIME.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  const written = `${day}T${minute}:${second}`;
  const ms = Date.parse(`${written}.${part.padEnd(3, '0').slice(0, 3)}Z`);
  // A day that no month has is carried into the next one.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(written)) return undefined;
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  return sign === '-' ? ms + offsetMs : ms - offsetMs;
}
