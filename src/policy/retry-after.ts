const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const SECONDS = /^\d+$/;
/** Sun, 06 Nov 1994 08:49:37 GMT */
const IMF_FIXDATE = /^[a-z]{3}, (\d{2}) ([a-z]{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) gmt$/i;
/** Sunday, 06-Nov-94 08:49:37 GMT */
const RFC_850 = /^[a-z]{6,9}, (\d{2})-([a-z]{3})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) gmt$/i;
/** Sun Nov  6 08:49:37 1994 */
const ASCTIME = /^[a-z]{3} ([a-z]{3}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/i;

/**
 * How long a `Retry-After` asks to wait from `now`, in ms: whole seconds or any of HTTP's three date forms. Undefined
 * for what is neither, and for a date that has passed: the caller then keeps its own schedule. `Date.parse` is not used
 * because it also takes `-5`, `1.5` and local times.
 */
export function parseRetryAfter(value: string, now: number): number | undefined {
  const text = value.trim();
  if (SECONDS.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const at = parseHttpDate(text, now);
  return at === undefined || at < now ? undefined : at - now;
}

function parseHttpDate(text: string, now: number): number | undefined {
  const imf = IMF_FIXDATE.exec(text);
  if (imf) return utc(imf[3], imf[2], imf[1], imf[4], imf[5], imf[6]);
  const asctime = ASCTIME.exec(text);
  if (asctime) return utc(asctime[6], asctime[1], asctime[2], asctime[3], asctime[4], asctime[5]);
  const rfc850 = RFC_850.exec(text);
  if (rfc850) {
    return utc(fullYear(Number(rfc850[3]), now), rfc850[2], rfc850[1], rfc850[4], rfc850[5], rfc850[6]);
  }
  return undefined;
}

/** RFC 9110: a two-digit year that seems more than 50 years ahead means the most recent such year in the past. */
function fullYear(twoDigits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + twoDigits;
  return year > thisYear + 50 ? year - 100 : year;
}

type Part = string | number | undefined;

/** Undefined for a date that does not exist: Date.UTC would turn 31 February into 3 March. */
function utc(year: Part, month: Part, day: Part, hour: Part, minute: Part, second: Part): number | undefined {
  const monthIndex = MONTHS.indexOf(String(month).toLowerCase());
  const [y, d, h, m, s] = [Number(year), Number(day), Number(hour), Number(minute), Number(second)];
  if (monthIndex < 0 || h > 23 || m > 59 || s > 60) return undefined;
  const midnight = new Date(Date.UTC(y, monthIndex, d));
  if (midnight.getUTCMonth() !== monthIndex || midnight.getUTCDate() !== d) return undefined;
  return midnight.getTime() + ((h * 60 + m) * 60 + s) * 1000;
}
