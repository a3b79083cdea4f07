/** Signed timestamps. What is not written exactly as the provider writes it is undefined, never NaN. */
export type TimestampUnit = 's' | 'ms' | 'iso';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Milliseconds since the epoch. */
export function parseTimestamp(text: string, unit: TimestampUnit): number | undefined {
  if (unit === 'iso') {
    const time = ISO.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(time) ? undefined : time;
  }
  // Plain digits: parseInt would take `1614265330abc`, and what was signed must be what is checked.
  if (!/^(?:0|[1-9]\d{0,14})$/.test(text)) return undefined;
  return unit === 's' ? Number(text) * 1000 : Number(text);
}

export function formatTimestamp(now: number, unit: TimestampUnit): string {
  if (unit === 'iso') return new Date(now).toISOString();
  return String(unit === 's' ? Math.floor(now / 1000) : now);
}

/** Why a time is outside of the replay window; undefined when it is inside. */
export function outsideWindow(timeMs: number, now: number, toleranceMs: number): string | undefined {
  // Written so that a NaN is outside.
  if (!(now - timeMs <= toleranceMs)) return `the timestamp is more than ${toleranceMs / 1000} s old`;
  if (!(timeMs - now <= toleranceMs)) return `the timestamp is more than ${toleranceMs / 1000} s ahead of this clock`;
  return undefined;
}
