import { describe, expect, it } from 'vitest';
import { createIds } from '../ids.ts';
import { createManualClock } from '../testing/manual-clock.ts';
import { HandOffs } from './hand-offs.ts';

describe('where hand-offs begin', () => {
  it('is no later than the oldest that is under way, whichever ends first', async () => {
    const clock = createManualClock();
    const ids = createIds(clock.now);
    const handOffs = new HandOffs(ids);
    const made: { at: number; id: string }[] = [];
    for (let i = 0; i < 3; i++) {
      handOffs.add(clock.now());
      made.push({ at: clock.now(), id: ids.next('dlv') });
      await clock.advance(2000);
    }
    const [first = never(), second = never(), third = never()] = made;
    handOffs.delete(second.at);
    expect(handOffs.from <= first.id).toBe(true);
    handOffs.delete(first.at);
    expect(handOffs.from > first.id).toBe(true);
    expect(handOffs.from <= third.id).toBe(true);
  });

  it('is that of the last of many in one second, until it is over too', () => {
    const clock = createManualClock();
    const ids = createIds(clock.now);
    const handOffs = new HandOffs(ids);
    const at = clock.now();
    for (let i = 0; i < 3; i++) handOffs.add(at);
    const id = ids.next('dlv');
    handOffs.delete(at);
    handOffs.delete(at);
    expect(handOffs.from <= id).toBe(true);
  });

  it('is below every id to come when the clock steps back after it was told', () => {
    let now = 10_000_000;
    const ids = createIds(() => now);
    const handOffs = new HandOffs(ids);
    const told = handOffs.from;
    now -= 5_000_000;
    expect(ids.next('dlv') > told).toBe(true);
    handOffs.add(now);
    const id = ids.next('dlv');
    expect(handOffs.from <= id).toBe(true);
  });

  it('with none under way is below every id to come, and above those that are over', async () => {
    const clock = createManualClock();
    const ids = createIds(clock.now);
    const handOffs = new HandOffs(ids);
    const over = ids.next('dlv');
    await clock.advance(1);
    const { from } = handOffs;
    expect(from > over).toBe(true);
    expect(from <= ids.next('dlv')).toBe(true);
  });
});

function never(): never {
  throw new Error('made above');
}
