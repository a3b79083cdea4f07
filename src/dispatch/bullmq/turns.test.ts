import { describe, expect, it } from 'vitest';
import { JOBS_PER_TURN, Turns } from './turns.ts';

describe('turns in the queue', () => {
  const times = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));

  it('a lane that keeps to its rate has no priority, however long it goes on', () => {
    const turns = new Turns();
    const given = times(10 * JOBS_PER_TURN, (n) => turns.next('a', (n * 1000) / JOBS_PER_TURN));
    expect(new Set(given)).toEqual(new Set([0]));
  });

  it('a burst falls back by one turn for every second that it is ahead, in its own order', () => {
    const turns = new Turns();
    const given = times(3 * JOBS_PER_TURN, () => turns.next('a', 0));
    expect(given).toEqual([0, 1, 2].flatMap((turn) => times(JOBS_PER_TURN, () => turn)));
  });

  it('two bursts are at the same turn, and a third lane before both', () => {
    const turns = new Turns();
    const last = times(1000, () => [turns.next('a', 0), turns.next('b', 0)]).at(-1);
    expect(last).toEqual([9, 9]);
    expect(turns.next('c', 0)).toBe(0);
  });

  it('a burst that is over is forgiven with time, also when the clock is set back', () => {
    const turns = new Turns();
    times(500, () => turns.next('a', 10_000));
    expect(turns.next('a', 5000)).toBe(5);
    expect(turns.next('a', 7000)).toBe(3);
    expect(turns.next('a', 20_000)).toBe(0);
  });

  it('a lane that got many for long is where a fresh burst of another one is', () => {
    const turns = new Turns();
    const steady = times(10 * 5 * JOBS_PER_TURN, (n) => turns.next('a', (n * 1000) / (5 * JOBS_PER_TURN))).at(-1);
    const burst = times(50 * JOBS_PER_TURN, () => turns.next('b', 10_000));
    expect(steady).toBeGreaterThanOrEqual(19);
    expect(burst.at(-1)).toBe(20);
    expect(turns.next('a', 31_000)).toBe(0);
  });

  it('keeps no more lanes than it has room for, and those that are ahead before others', () => {
    const turns = new Turns();
    times(500, () => turns.next('ahead', 0));
    times(9999, (n) => turns.next(`lane ${n}`, 0));
    expect(turns.next('one more', 1000)).toBe(0);
    expect(turns.next('ahead', 1000)).toBe(4);
  });
});
