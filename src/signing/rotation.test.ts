import { describe, expect, it } from 'vitest';
import { isPosthornError } from '../errors.ts';
import type { EndpointSecret } from '../model/index.ts';
import { liveSecrets, nextExpiry, rotate } from './rotation.ts';

const DAY_MS = 86_400_000;

describe('rotate', () => {
  it('puts the new secret first and lets the old one live through the grace period', () => {
    const secrets = rotate([{ key: 'a', createdAt: 1 }], 'b', { now: 1000, graceMs: DAY_MS });
    expect(secrets).toEqual([
      { key: 'b', createdAt: 1000 },
      { key: 'a', createdAt: 1, expiresAt: 1000 + DAY_MS },
    ]);
  });

  it('leaves older ones their own end and purges those that are over', () => {
    const before: EndpointSecret[] = [
      { key: 'c', createdAt: 3 },
      { key: 'b', createdAt: 2, expiresAt: 5001 },
      { key: 'a', createdAt: 1, expiresAt: 5000 },
    ];
    expect(rotate(before, 'd', { now: 5000, graceMs: 100 })).toEqual([
      { key: 'd', createdAt: 5000 },
      { key: 'c', createdAt: 3, expiresAt: 5100 },
      { key: 'b', createdAt: 2, expiresAt: 5001 },
    ]);
    expect(before[0]).toEqual({ key: 'c', createdAt: 3 });
  });

  it('drops the old secret at once with a grace period of 0', () => {
    expect(rotate([{ key: 'a', createdAt: 1 }], 'b', { now: 1000, graceMs: 0 })).toEqual([
      { key: 'b', createdAt: 1000 },
    ]);
  });

  it('allows 10 old secrets, refuses the 11th, and allows it again once one has expired', () => {
    let secrets: EndpointSecret[] = [{ key: 'k0', createdAt: 0 }];
    for (let n = 1; n <= 10; n++) secrets = rotate(secrets, `k${n}`, { now: n, graceMs: DAY_MS });
    expect(secrets).toHaveLength(11);
    expect(() => rotate(secrets, 'k11', { now: 11, graceMs: DAY_MS })).toThrow(
      expect.toSatisfy((error) => isPosthornError(error, 'limit_reached')),
    );
    expect(rotate(secrets, 'k11', { now: 11, graceMs: 0 })).toHaveLength(11);
    expect(rotate(secrets, 'k11', { now: 1 + DAY_MS, graceMs: DAY_MS })[0]?.key).toBe('k11');
  });
});

describe('liveSecrets', () => {
  const secrets: EndpointSecret[] = [
    { key: 'c', createdAt: 3 },
    { key: 'b', createdAt: 2, expiresAt: 200 },
    { key: 'a', createdAt: 1, expiresAt: 100 },
  ];
  const keysAt = (now: number) => liveSecrets(secrets, now).map(({ key }) => key);

  it('keeps a secret until the millisecond in which it expires', () => {
    expect(keysAt(99)).toEqual(['c', 'b', 'a']);
    expect(keysAt(100)).toEqual(['c', 'b']);
    expect(keysAt(200)).toEqual(['c']);
  });

  it('does not change before nextExpiry and changes at it', () => {
    expect([0, 99, 100, 199, 200].map((now) => nextExpiry(secrets, now))).toEqual([100, 100, 200, 200, undefined]);
  });
});
