const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * A duration for a person: `350 ms`, `5.3 s`, `90 s`, `2 min 5 s`, `65 min`, `5 h 30 min`, `3 d 3 h`. Rounded to what
 * helps at that size; the exact number is always beside it in the record.
 */
export function formatDuration(durationMs: number): string {
  const ms = durationMs > 0 ? durationMs : 0;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9.95 * SECOND_MS) return `${Math.round(ms / 100) / 10} s`;

  const seconds = Math.round(ms / SECOND_MS);
  if (seconds < 120) return seconds === 60 ? '1 min' : `${seconds} s`;
  if (seconds < 600) return pair(seconds, 60, 'min', 's');

  const minutes = Math.round(ms / MINUTE_MS);
  if (minutes < 120) return minutes === 60 ? '1 h' : `${minutes} min`;
  if (minutes < 48 * 60) return pair(minutes, 60, 'h', 'min');

  return ms === Number.POSITIVE_INFINITY ? 'forever' : pair(Math.round(ms / HOUR_MS), DAY_MS / HOUR_MS, 'd', 'h');
}

function pair(count: number, perLarge: number, large: string, small: string): string {
  const rest = count % perLarge;
  const whole = `${Math.floor(count / perLarge)} ${large}`;
  return rest === 0 ? whole : `${whole} ${rest} ${small}`;
}
