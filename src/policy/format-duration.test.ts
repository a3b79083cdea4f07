import { expect, it } from 'vitest';
import { formatDuration } from './format-duration.ts';

it.each([
  [0, '0 ms'],
  [-5, '0 ms'],
  [350, '350 ms'],
  [999.6, '1 s'],
  [1000, '1 s'],
  [5250, '5.3 s'],
  [9999, '10 s'],
  [25_000, '25 s'],
  [60_000, '1 min'],
  [90_000, '90 s'],
  [120_000, '2 min'],
  [125_000, '2 min 5 s'],
  [900_000, '15 min'],
  [3_600_000, '1 h'],
  [3_905_000, '65 min'],
  [7_200_000, '2 h'],
  [19_800_000, '5 h 30 min'],
  [86_400_000, '24 h'],
  [272_105_000, '3 d 4 h'],
  [2_592_000_000, '30 d'],
  [Number.POSITIVE_INFINITY, 'forever'],
  [Number.NaN, '0 ms'],
])('%d ms reads %j', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
