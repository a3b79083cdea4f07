import { describe, expect, it } from 'vitest';
import type { Use } from './harness.ts';
import { MINUTE_MS, retryIn, T0 } from './scene.ts';

export function exerciseCounts(use: Use): void {
  describe('counts', () => {
    it('is all zero in an empty store', async () => {
      expect(await use().store.counts({ most: 10_000 })).toEqual({
        pending: 0,
        retrying: 0,
        leased: 0,
        held: 0,
        dead: 0,
        overdue: 0,
        untaken: 0,
        oldestDueAt: undefined,
      });
    });

    it('says how much is where', async () => {
      const scene = use();
      const [busy = '', paused = ''] = await scene.endpoints(2);
      await scene.deadLetter(busy);
      const [retried = ''] = await scene.publish({ to: [busy] });
      await scene.record(await scene.claimOne(retried), retryIn(MINUTE_MS), { durationMs: 0 });
      await scene.publish({ to: [busy], state: 'leased' });
      await scene.publish({ to: [paused], state: 'held' });
      await scene.publishMany(2, { to: [busy], now: T0 + 5 });
      expect(await scene.store.counts({ most: 10_000 })).toEqual({
        pending: 3,
        retrying: 1,
        leased: 1,
        held: 1,
        dead: 1,
        overdue: 0,
        untaken: 0,
        oldestDueAt: T0 + 5,
      });
    });

    it('PAY-01 counts what has waited too long for a handler that no node has', async () => {
      const scene = use();
      const applicationId = await scene.source();
      const [gone, taken] = [await scene.handler(applicationId), await scene.handler(applicationId)];
      await scene.publishMany(2, { to: [gone, taken, await scene.endpoint()], message: { applicationId } });
      await scene.publish({ to: [gone], now: T0 + MINUTE_MS, message: { applicationId } });
      await scene.claim({ room: 1, handlers: [taken] });
      const count = (most: number, before?: number) =>
        scene.store.counts({ most, ...(before !== undefined && { untakenBefore: before }) });
      const untaken = async (most: number, before?: number) => (await count(most, before)).untaken;
      expect(await untaken(10_000, T0 + MINUTE_MS)).toBe(2);
      expect(await untaken(1, T0 + MINUTE_MS)).toBe(1);
      expect(await untaken(10_000, T0)).toBe(0);
      expect(await untaken(10_000)).toBe(0);
      // An endpoint that no node has at hand, beside one that a node has.
      await scene.publishMany(2, { to: [await scene.endpoint()] });
      expect(await count(10_000, T0 + MINUTE_MS)).toMatchObject({ overdue: 4, untaken: 2 });
      expect(await count(3, T0 + MINUTE_MS)).toMatchObject({ overdue: 3 });
      expect([(await count(10_000, T0)).overdue, (await count(10_000)).overdue]).toEqual([0, 0]);
    });

    it('stops counting at what it is asked for', async () => {
      const scene = use();
      await scene.publishMany(5, { to: [await scene.endpoint()] });
      expect((await scene.store.counts({ most: 3 })).pending).toBe(3);
    });

    it('the oldest due time counts lanes that a node has to itself', async () => {
      const scene = use();
      const to = await scene.endpoint();
      for (const now of [T0, T0 + 1, T0 + 2]) await scene.publish({ to: [to], now });
      await scene.claim({ now: T0 + 10, room: 1 });
      expect((await scene.store.counts({ most: 10_000 })).oldestDueAt).toBe(T0 + 1);
    });
  });
}
