import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIds, floorId, timeOfId } from './ids.ts';

describe('ids', () => {
  it('have the prefix and 27 characters that every Svix client takes', () => {
    const ids = createIds(() => Date.UTC(2026, 10, 16));
    expect(ids.next('msg')).toMatch(/^msg_[0-9A-Za-z]{27}$/);
  });

  it('rise strictly, however many are made in a millisecond and however the clock jumps', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 41 }), { minLength: 1, maxLength: 20 }), (times) => {
        let now = 0;
        const ids = createIds(() => now);
        let last = '';
        for (const time of times) {
          now = time;
          for (let i = 0; i < 300; i++) {
            const id = ids.next('dlv');
            expect(id > last).toBe(true);
            last = id;
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('sort by time across processes', () => {
    const earlier = createIds(() => 1_700_000_000_000).next('ep');
    const later = createIds(() => 1_700_000_000_001).next('ep');
    expect(earlier < later).toBe(true);
  });

  it('tell when they were made', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 41 }), (time) => {
        expect(timeOfId(createIds(() => time).next('msg'))).toBe(time);
        expect(timeOfId(floorId('msg', time))).toBe(time);
      }),
    );
    expect(
      timeOfId(
        createIds(() => 1_700_000_000_000)
          .next('msg')
          .slice(0, 8),
      ),
    ).toBeLessThan(1_700_000_000_000);
  });

  it('are never the same in two processes that begin in the same millisecond', () => {
    const made = new Set(Array.from({ length: 2000 }, () => createIds(() => 1_700_000_000_000).next('msg')));
    expect(made.size).toBe(2000);
  });

  it('draw uniformly from [0, 1)', () => {
    const ids = createIds(() => 0);
    const buckets = new Array<number>(10).fill(0);
    for (let i = 0; i < 20_000; i++) {
      const draw = ids.draw();
      expect(draw >= 0 && draw < 1).toBe(true);
      const bucket = Math.floor(draw * 10);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    for (const count of buckets) expect(Math.abs(count - 2000)).toBeLessThan(300);
  });
});
