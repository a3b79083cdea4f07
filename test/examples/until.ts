import { setTimeout as wait } from 'node:timers/promises';
import type { ManualClock } from '../../src/testing/manual-clock.ts';

/** Lets what is due at this time of the manual clock happen until something is so: the store works in a thread. */
export async function until(clock: ManualClock, isSo: () => Promise<boolean> | boolean, tries = 2000): Promise<void> {
  for (let n = 0; n < tries; n++) {
    await clock.advance(0);
    if (await isSo()) return;
    await wait(5);
  }
  throw new Error('it never came to be so');
}
