import type { Parsed } from './parsers.ts';

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const SHORTEST_MS = 86_400_000;

/** How long something is kept, in milliseconds. A bare number is refused: what is deleted for want of a unit is gone. */
export function parseAge(text: string): Parsed<number> {
  const [, count, unit = ''] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  return ms >= SHORTEST_MS
    ? { value: ms }
    : { refused: 'must be a number of hours, days or weeks, at least a day: 48h, 90d, 12w' };
}
