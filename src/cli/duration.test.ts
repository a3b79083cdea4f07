import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseDuration } from './duration.ts';

it.each([
  ['40m', 2_400_000],
  ['90s', 90_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['250ms', 250],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['0s', 0],
  ['365d', 31_536_000_000],
])('%s is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

it.each(['', '40', 'm', '40 m', '40min', '-5m', '5m!', 'x5m', '366d', '1e3s', 'Infinitys', '.5h'])(
  '%j is refused with an example of what works',
  (text) => {
    expect(() => parseDuration(text)).toThrow(/40m/);
  },
);

it('never gives anything but a whole number of ms, whatever the text', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        expect(Number.isSafeInteger(parseDuration(text))).toBe(true);
      } catch (error) {
        expect(String(error)).toContain('duration');
      }
    }),
  );
});
