import { describe, expect, it } from 'vitest';
import type { Use } from './harness.ts';
import { DELIVERED, ids, T0 } from './scene.ts';

export function exerciseRelease(use: Use): void {
  describe('release', () => {
    it('gives deliveries back, due now, without counting an attempt', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      await scene.claimOne(id);
      await scene.store.release({ epoch: scene.epoch, now: T0 + 5, ids: [id] });
      expect(await scene.delivery(id)).toMatchObject({
        state: 'pending',
        attempts: 0,
        scheduleAttempts: 0,
        dueAt: T0 + 5,
      });
      expect(await scene.attempts(id)).toEqual([]);
      expect(ids((await scene.claim({ now: T0 + 5 })).deliveries)).toEqual([id]);
    });

    it('BUD-07 gives nothing back that is not leased to this node', async () => {
      const scene = use();
      const other = await scene.join();
      const [leased = '', finished = '', waiting = ''] = await scene.publishMany(3, { to: [await scene.endpoint()] });
      const { deliveries } = await scene.claim({ room: 2 });
      const second = deliveries.find(({ id }) => id === finished);
      if (second) await scene.record(second, DELIVERED);
      await scene.store.release({ epoch: other, now: T0, ids: [leased] });
      await scene.store.release({ epoch: scene.epoch, now: T0, ids: [finished, waiting, 'dlv_none'] });
      expect(await scene.states([leased, finished, waiting])).toEqual(['leased', 'delivered', 'pending']);
    });

    it('SPI-09 holds what is given back to a stopped endpoint', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [id = ''] = await scene.publish({ to: [to] });
      await scene.claimOne(id);
      await scene.store.setStatus({ endpointId: to, status: 'disabled', reason: 'by its owner', now: T0 });
      await scene.store.release({ epoch: scene.epoch, now: T0, ids: [id] });
      expect(await scene.state(id)).toBe('held');
    });

    it('cancels what is given back to a deleted endpoint', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [id = ''] = await scene.publish({ to: [to] });
      await scene.claimOne(id);
      await scene.store.remove({ kind: 'endpoint', id: to, now: T0 });
      await scene.store.release({ epoch: scene.epoch, now: T0, ids: [id] });
      const delivery = await scene.delivery(id);
      expect(delivery.state).toBe('cancelled');
      expect(delivery.dueAt).toBeUndefined();
    });
  });
}
