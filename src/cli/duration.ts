import { InvalidArgumentError } from 'commander';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_MS = 365 * 86_400_000;

/** `40m`, `90s`, `1h30m`, `2d`: numbers with their units, the larger first. */
export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  const whole = parts.map(([part]) => part).join('');
  const total = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0);
  if (parts.length === 0 || whole !== text || total > LONGEST_MS) {
    throw new InvalidArgumentError('Write a duration with its unit, up to 365d: 90s, 40m, 1h30m, 2d.');
  }
  return Math.round(total);
}
