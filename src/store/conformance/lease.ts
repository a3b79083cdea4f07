import { describe, expect, it } from 'vitest';
import type { Use } from './harness.ts';
import { ids, T0 } from './scene.ts';

export function exerciseLease(use: Use): void {
  describe('lease', () => {
    it('leases the deliveries that are asked for, with their payload, in the order of the ids', async () => {
      const scene = use();
      const [first = '', second = '', third = ''] = await scene.publishMany(3, { to: [await scene.endpoint()] });
      const { fenced, deliveries } = await scene.store.lease({ epoch: scene.epoch, now: T0, ids: [third, first] });
      expect(fenced).toBe(false);
      expect(ids(deliveries)).toEqual([third, first]);
      expect(deliveries.every(({ payload }) => payload.length > 0)).toBe(true);
      expect(await scene.states([first, second, third])).toEqual(['leased', 'pending', 'leased']);
    });

    it('ALL-02 leases nothing twice, nothing finished and nothing that is not there', async () => {
      const scene = use();
      const other = await scene.join();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      await scene.store.lease({ epoch: scene.epoch, now: T0, ids: [id] });
      for (const epoch of [scene.epoch, other]) {
        expect((await scene.store.lease({ epoch, now: T0, ids: [id, 'dlv_none'] })).deliveries).toEqual([]);
      }
    });

    it('leaves what is not due yet, and says when it will be', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()], now: T0 + 1000 });
      const early = await scene.store.lease({ epoch: scene.epoch, now: T0 + 999, ids: [id, 'dlv_none'] });
      expect(early).toEqual({ fenced: false, left: [], early: [{ id, dueAt: T0 + 1000 }], deliveries: [] });
      expect(ids((await scene.store.lease({ epoch: scene.epoch, now: T0 + 1000, ids: [id] })).deliveries)).toEqual([
        id,
      ]);
    });

    it('SPI-09 leaves what belongs to an endpoint that is stopped', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [id = ''] = await scene.publish({ to: [to] });
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: 'by hand', now: T0 });
      expect((await scene.store.lease({ epoch: scene.epoch, now: T0, ids: [id] })).deliveries).toEqual([]);
    });

    it('BUD-07 leases nothing to a node that is fenced', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      await scene.store.leave({ epoch: scene.epoch });
      expect(await scene.store.lease({ epoch: scene.epoch, now: T0, ids: [id] })).toEqual({
        fenced: true,
        left: [],
        early: [],
        deliveries: [],
      });
      expect(await scene.state(id)).toBe('pending');
    });

    it('stops before its bytes are exceeded, and says what it left', async () => {
      const scene = use();
      const to = [await scene.endpoint()];
      const all = await scene.publishMany(4, { to, message: { payload: new Uint8Array(1000) } });
      const lease = (ids: readonly string[], maxBytes: number) =>
        scene.store.lease({ epoch: scene.epoch, now: T0, ids, maxBytes });
      const [first = '', second = '', third = '', fourth = ''] = all;
      const two = await lease(['dlv_none', first, second, third], 2999);
      expect({ leased: ids(two.deliveries), left: two.left }).toEqual({ leased: [first, second], left: [third] });
      expect(await scene.states(all)).toEqual(['leased', 'leased', 'pending', 'pending']);
      const one = await lease([first, fourth, third], 0);
      expect({ leased: ids(one.deliveries), left: one.left }).toEqual({ leased: [fourth], left: [third] });
      expect((await lease([third], 1000)).deliveries[0]?.payload).toHaveLength(1000);
    });

    it('what it leased is not claimed, and its lane still finds the rest', async () => {
      const scene = use();
      const [first = '', second = ''] = await scene.publishMany(2, { to: [await scene.endpoint()] });
      await scene.store.lease({ epoch: scene.epoch, now: T0, ids: [first] });
      expect(ids((await scene.claim({ now: T0 })).deliveries)).toEqual([second]);
    });
  });
}
