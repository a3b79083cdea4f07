import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../store/index.ts';
import { createEngineRig } from '../testing/engine-rig.ts';
import { createManualClock, type ManualClock } from '../testing/manual-clock.ts';
import { openTestStore } from '../testing/test-store.ts';
import { Leader } from './lead.ts';

const LEASE_MS = 10_000;
const EVERY_MS = 600_000;

let clock: ManualClock;
let store: Store;

beforeEach(async () => {
  clock = createManualClock();
  store = await openTestStore();
});
afterEach(() => store.close());

function noting(done: string[], name: string) {
  return {
    name,
    everyMs: EVERY_MS,
    async run() {
      done.push(name);
    },
  };
}

describe('the leader', () => {
  it('one node of many does the duties, and another one within the lease after it is gone', async () => {
    const done: string[] = [];
    const rig = await createEngineRig({ clock, store, duties: [noting(done, 'first')] });
    const second = rig.secondEngine({ duties: [noting(done, 'second')] });
    await second.start();
    await clock.advance(LEASE_MS);
    expect(done).toEqual(['first']);
    await clock.advance(EVERY_MS);
    expect(done).toEqual(['first', 'first']);
    await rig.engine.stop(0);
    await clock.advance(LEASE_MS);
    expect(done).toEqual(['first', 'first', 'second']);
    await rig.close();
  });

  it('keeps the store in order: what expired is forgotten, and messages past the retention go', async () => {
    const calls: unknown[] = [];
    const noted: Store = {
      ...store,
      forget: (input) => {
        calls.push('forget');
        return store.forget(input);
      },
      maintain: (input) => {
        calls.push(input.retentionMs);
        return store.maintain(input);
      },
    };
    const rig = await createEngineRig({ clock, store: noted, retentionMs: 7 });
    await clock.advance(LEASE_MS);
    expect(calls).toEqual(['forget', 7]);
    await rig.close();
  });

  it('tells of a duty that failed, and tries it again before its turn', async () => {
    const troubles: unknown[] = [];
    let runs = 0;
    const run = async () => {
      runs += 1;
      if (runs === 1) throw new Error('no disk');
    };
    const duties = [{ name: 'sweeping the yard', everyMs: EVERY_MS, run }];
    const leader = new Leader({ clock, duties, onTrouble: (error) => troubles.push(String(error)) });
    leader.beat(true);
    await clock.advance(0);
    expect(troubles).toEqual(['Error: sweeping the yard failed: no disk']);
    leader.beat(true);
    await clock.advance(60_000);
    leader.beat(true);
    expect(runs).toBe(2);
    await leader.stop();
  });

  it('tells a duty under way to end when it no longer leads, and begins none', async () => {
    const signals: AbortSignal[] = [];
    const run = (signal: AbortSignal) => {
      signals.push(signal);
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    };
    const leader = new Leader({ clock, duties: [{ name: 'waiting', everyMs: 0, run }], onTrouble: () => {} });
    leader.beat(true);
    leader.beat(true);
    leader.beat(false);
    leader.beat(false);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await leader.stop();
    leader.beat(true);
    expect(signals).toHaveLength(1);
  });
});
