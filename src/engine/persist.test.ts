import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../testing/manual-clock.ts';
import { persist } from './persist.ts';

describe('persist', () => {
  it('tries until it works, and leaves no listener behind for the tries it took', async () => {
    const clock = createManualClock();
    const { signal } = new AbortController();
    let tries = 0;
    const done = persist(
      async () => {
        tries += 1;
        if (tries < 30) throw new Error('not yet');
        return 'written';
      },
      clock,
      signal,
      () => expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1),
    );
    await clock.advance(200_000);
    expect(await done).toBe('written');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('gives up at the signal without waiting out its pause', async () => {
    const clock = createManualClock();
    const stop = new AbortController();
    const failing = persist(
      () => Promise.reject(new Error('gone')),
      clock,
      stop.signal,
      () => {},
    );
    const refused = expect(failing).rejects.toThrow('gone');
    await clock.advance(100);
    stop.abort();
    await refused;
  });
});
