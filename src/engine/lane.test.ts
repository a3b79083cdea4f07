import { describe, expect, it } from 'vitest';
import { type Job, Lane } from './lane.ts';

const job = { delivery: {}, epoch: 1 } as Job;

/** One success every `everyMs`, for as long as it says. */
function run(lane: Lane, { from, everyMs, forMs }: { from: number; everyMs: number; forMs: number }): void {
  for (let now = from; now < from + forMs; now += everyMs) {
    lane.enqueue(job);
    lane.next(now);
    lane.finish(true, now);
  }
}

describe('how much a lane may have leased', () => {
  it('a fast one what it sends in the time ahead', () => {
    const lane = new Lane('ep_1', 10, () => 4000);
    run(lane, { from: 1_000_000, everyMs: 1, forMs: 1200 });
    expect(lane.room).toBe(4000);
  });

  it('a whole number of them, whatever the pace: a store takes no other limit', () => {
    const lane = new Lane('ep_1', 10, () => 4000);
    run(lane, { from: 1_000_000, everyMs: 3, forMs: 1200 });
    expect(lane.room).toBeGreaterThan(80);
    expect(Number.isInteger(lane.room)).toBe(true);
  });

  it('a slow one what its slots need', () => {
    const lane = new Lane('ep_1', 10, () => 4000);
    run(lane, { from: 1_000_000, everyMs: 100, forMs: 3000 });
    expect(lane.room).toBe(80);
  });

  it('one that was fast and had nothing to do for a while what it sent before', () => {
    const lane = new Lane('ep_1', 10, () => 4000);
    run(lane, { from: 1_000_000, everyMs: 1, forMs: 1200 });
    run(lane, { from: 1_500_000, everyMs: 1, forMs: 1 });
    expect(lane.room).toBe(4000);
  });

  it('one that was fast and became slow, with work all the time, what its slots need', () => {
    const lane = new Lane('ep_1', 10, () => 4000);
    run(lane, { from: 1_000_000, everyMs: 1, forMs: 1200 });
    lane.enqueue(job);
    lane.next(1_001_200);
    run(lane, { from: 1_001_900, everyMs: 700, forMs: 2800 });
    expect(lane.room).toBe(79);
  });

  it('one that was fast long ago what its slots need', () => {
    const lane = new Lane('ep_1', 10, () => 4000);
    run(lane, { from: 1_000_000, everyMs: 1, forMs: 1200 });
    run(lane, { from: 9_000_000, everyMs: 1, forMs: 1 });
    expect(lane.room).toBe(80);
  });

  it('no more than its slots need where other nodes could send it sooner', () => {
    const lane = new Lane('ep_1', 10, () => 0);
    run(lane, { from: 1_000_000, everyMs: 1, forMs: 1200 });
    expect(lane.room).toBe(80);
  });
});
