import { describe, expect, it } from 'vitest';
import { createIds } from '../ids.ts';
import { createManualClock } from '../testing/manual-clock.ts';
import { HandOffs } from './hand-offs.ts';

describe('where hand-offs begin', () => {
  it('is the oldest that is under way, whichever ends first', () => {
    const clock = createManualClock();
    const ids = createIds(clock.now);
    const handOffs = new HandOffs(clock);
    const [first = '', second = '', third = ''] = [ids.next('dlv'), ids.next('dlv'), ids.next('dlv')];
    for (const id of [first, second, third]) handOffs.add(id);
    handOffs.delete(second);
    expect(handOffs.from).toBe(first);
    handOffs.delete(first);
    expect(handOffs.from).toBe(third);
  });

  it('with none under way is below every id to come, and above those that are over', async () => {
    const clock = createManualClock();
    const ids = createIds(clock.now);
    const handOffs = new HandOffs(clock);
    const over = ids.next('dlv');
    await clock.advance(1);
    const { from } = handOffs;
    expect(from > over).toBe(true);
    expect(from <= ids.next('dlv')).toBe(true);
  });
});
