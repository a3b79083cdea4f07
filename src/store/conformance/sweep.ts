import { describe, expect, it } from 'vitest';
import type { StoreCapabilities, Use } from './harness.ts';
import { ids, MINUTE_MS, retryIn, T0 } from './scene.ts';

export function exerciseSweep(use: Use, capabilities: StoreCapabilities): void {
  describe('sweep', () => {
    it('has nothing to do at first', async () => {
      expect(await use().store.sweep({ now: T0, limit: 10 })).toEqual({ idle: true, moved: 0 });
    });

    it('SPI-09 a stopped endpoint: its pending deliveries are held, in bounded chunks, with the time they were due', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const stored = await scene.publishMany(5, { to: [to] });
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: '', now: T0 });
      expect(await scene.store.sweep({ now: T0 + 1, limit: 2 })).toEqual({ idle: false, destinationId: to, moved: 2 });
      expect(await scene.sweepAll(2)).toEqual([2, 1]);
      expect(new Set(await scene.states(stored))).toEqual(new Set(['held']));
      expect(await scene.delivery(stored[0] ?? '')).toMatchObject({ dueAt: T0, updatedAt: T0 + 1 });
    });

    it('SPI-08 a resumed endpoint: its held deliveries are let go oldest first, in bounded chunks, and can be claimed', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const stored = await scene.publishMany(5, { to: [to] });
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: '', now: T0 });
      await scene.sweepAll();
      await scene.store.setStatus({ endpointId: to, status: 'active', reason: '', now: T0 });
      await scene.store.sweep({ now: T0, limit: 2 });
      expect(await scene.states(stored)).toEqual(['pending', 'pending', 'held', 'held', 'held']);
      expect(ids((await scene.claim()).deliveries)).toEqual(stored.slice(0, 2));
      expect(await scene.sweepAll(2)).toEqual([2, 1]);
      expect(ids((await scene.claim()).deliveries)).toEqual(stored.slice(2));
    });

    it('SPI-08 a retry that was held is due when it was due before, not sooner', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [id = ''] = await scene.publish({ to: [to] });
      await scene.record(await scene.claimOne(id), retryIn(MINUTE_MS), { durationMs: 0 });
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: '', now: T0 });
      await scene.sweepAll();
      await scene.store.setStatus({ endpointId: to, status: 'active', reason: '', now: T0 });
      await scene.sweepAll();
      expect((await scene.claim({ now: T0 + MINUTE_MS - 1 })).deliveries).toEqual([]);
      expect(ids((await scene.claim({ now: T0 + MINUTE_MS })).deliveries)).toEqual([id]);
    });

    it('a deleted endpoint: what it had open is cancelled, with the reason, in bounded chunks', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const held = await scene.publishMany(2, { to: [to], state: 'held' });
      const pending = await scene.publishMany(3, { to: [to] });
      const dead = await scene.deadLetter(await scene.endpoint());
      await scene.store.release({ epoch: scene.epoch, now: T0, ids: pending });
      await scene.store.remove({ kind: 'endpoint', id: to, now: T0 });
      expect(await scene.sweepAll(2)).toEqual([2, 2, 1]);
      for (const id of [...held, ...pending]) {
        const delivery = await scene.delivery(id);
        expect(delivery).toMatchObject({ state: 'cancelled', reason: 'its endpoint was deleted' });
        expect(delivery.dueAt).toBeUndefined();
      }
      expect(await scene.state(dead)).toBe('dead');
    });

    if (capabilities.durable)
      it('a deleted endpoint leaves no lane behind, one of a deleted application neither; a stopped one keeps its lane', async () => {
        const scene = use();
        const [deleted = '', stopped = ''] = await scene.endpoints(2);
        const applicationId = await scene.application();
        const orphan = await scene.endpoint({ applicationId });
        await scene.publishMany(3, { to: [deleted, stopped] });
        await scene.publish({ to: [orphan], message: { applicationId } });
        expect(await scene.lanes()).toEqual([deleted, stopped, orphan].sort());
        // In a sender's hands while its endpoint goes: what becomes of it must not bring the lane back.
        const lanes = [{ destinationId: deleted, room: 1 }];
        const { deliveries } = await scene.claim({ lanes, discover: 0 });
        expect(deliveries).toHaveLength(1);
        await scene.store.setStatus({ endpointId: stopped, status: 'paused', reason: '', now: T0 });
        await scene.store.remove({ kind: 'endpoint', id: deleted, now: T0 });
        await scene.store.remove({ kind: 'application', id: applicationId, now: T0 });
        await scene.sweepAll(2);
        for (const leased of deliveries) await scene.record(leased, retryIn(MINUTE_MS));
        await scene.claim({ now: T0 + MINUTE_MS * 2 });
        expect(await scene.lanes()).toEqual([stopped]);
      });

    it('moves only deliveries of the endpoint that changed', async () => {
      const scene = use();
      const [stopped = '', other = ''] = await scene.endpoints(2);
      const stored = await scene.publish({ to: [stopped, other] });
      await scene.store.setStatus({ endpointId: stopped, status: 'paused', reason: '', now: T0 });
      await scene.sweepAll();
      expect(await scene.states(stored)).toEqual(['held', 'pending']);
    });

    if (capabilities.durable)
      it('is not forgotten when the store is closed half-way', async () => {
        const scene = use();
        const to = await scene.endpoint();
        const stored = await scene.publishMany(3, { to: [to] });
        await scene.store.setStatus({ endpointId: to, status: 'paused', reason: '', now: T0 });
        await scene.store.sweep({ now: T0, limit: 1 });
        await scene.reopen();
        await scene.sweepAll();
        expect(new Set(await scene.states(stored))).toEqual(new Set(['held']));
      });
  });
}
