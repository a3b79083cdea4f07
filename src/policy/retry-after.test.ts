import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from './retry-after.ts';

/** One minute before the date that RFC 9110 uses in its examples. */
const NOW = Date.UTC(1994, 10, 6, 8, 48, 37);

describe('parseRetryAfter', () => {
  it('SPI-03 takes whole seconds', () => {
    expect(parseRetryAfter('120', NOW)).toBe(120_000);
    expect(parseRetryAfter(' 0 ', NOW)).toBe(0);
    expect(parseRetryAfter('007', NOW)).toBe(7000);
  });

  it('SPI-03 takes all three forms of an HTTP date', () => {
    expect(parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', NOW)).toBe(60_000);
    expect(parseRetryAfter('Sunday, 06-Nov-94 08:49:37 GMT', NOW)).toBe(60_000);
    expect(parseRetryAfter('Sun Nov  6 08:49:37 1994', NOW)).toBe(60_000);
  });

  it('reads a two-digit year within 50 years of now', () => {
    const in2026 = Date.UTC(2026, 0, 1);
    expect(parseRetryAfter('Friday, 01-Jan-27 00:00:00 GMT', in2026)).toBe(365 * 86_400_000);
    expect(parseRetryAfter('Sunday, 06-Nov-94 08:49:37 GMT', in2026)).toBeUndefined();
  });

  it('takes a far future as it is: the cap is the policy’s business', () => {
    expect(parseRetryAfter('Fri, 31 Dec 9999 23:59:59 GMT', NOW)).toBeGreaterThan(8000 * 365 * 86_400_000);
    expect(parseRetryAfter('9'.repeat(400), NOW)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('ignores a date that has passed, and takes now as no wait', () => {
    expect(parseRetryAfter('Sun, 06 Nov 1994 08:48:36 GMT', NOW)).toBeUndefined();
    expect(parseRetryAfter('Sun, 06 Nov 1994 08:48:37 GMT', NOW)).toBe(0);
  });

  it.each([
    '',
    ' ',
    '-1',
    '+1',
    '1.5',
    '1e3',
    '0x10',
    '60s',
    '60, 120',
    'soon',
    'NaN',
    'Infinity',
    '2094-11-06T08:49:37Z',
    'Sun, 06 Nov 2094 08:49:37',
    'Sun, 06 Nov 2094 08:49:37 PST',
    'Sun, 31 Feb 2094 08:49:37 GMT',
    'Sun, 00 Nov 2094 08:49:37 GMT',
    'Sun, 06 Foo 2094 08:49:37 GMT',
    'Sun, 06 Nov 2094 24:00:00 GMT',
    'Sun, 06 Nov 2094 08:60:00 GMT',
    '٣',
  ])('ignores %j', (value) => {
    expect(parseRetryAfter(value, NOW)).toBeUndefined();
  });

  it('never throws, and never asks for a negative or endless wait', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.integer().map(String)), (value) => {
        const delay = parseRetryAfter(value, NOW);
        if (delay !== undefined) expect(Number.isSafeInteger(delay) && delay >= 0).toBe(true);
      }),
    );
  });

  it('reads back every date that HTTP can write', () => {
    fc.assert(
      fc.property(fc.integer({ min: NOW / 1000, max: Date.UTC(9999, 0, 1) / 1000 }), (seconds) => {
        const date = new Date(seconds * 1000);
        expect(parseRetryAfter(date.toUTCString(), NOW)).toBe(date.getTime() - NOW);
      }),
    );
  });
});
