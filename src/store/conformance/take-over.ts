import { describe, expect, it } from 'vitest';
import type { Use } from './harness.ts';
import { DELIVERED, ids, LEASE_MS, retryIn, sorted, T0 } from './scene.ts';

const EXPIRED = T0 + LEASE_MS;

export function exerciseTakeOver(use: Use): void {
  describe('takeOver', () => {
    it('BUD-07 takes nothing from nodes that are alive', async () => {
      const scene = use();
      await scene.publish({ to: [await scene.endpoint()] });
      await scene.claim();
      const other = await scene.join();
      expect(await scene.takeOver(other, EXPIRED - 1)).toEqual([]);
      expect(await scene.store.heartbeat({ epoch: scene.epoch, now: EXPIRED - 1, leaseMs: LEASE_MS })).toBe('leading');
    });

    it('BUD-07 leases to the heir what an expired node had, without the payload', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      await scene.record(await scene.claimOne(id), retryIn(0), { durationMs: 0 });
      const lost = await scene.claimOne(id);
      const heir = await scene.join(EXPIRED);
      expect(await scene.takeOver(heir, EXPIRED)).toEqual([{ ...lost, payload: new Uint8Array() }]);
      expect(await scene.state(id)).toBe('leased');
      expect((await scene.record(lost, DELIVERED)).results).toEqual(['lease_lost']);
      expect((await scene.record(lost, DELIVERED, { epoch: heir })).results).toEqual(['recorded']);
    });

    it('BUD-07 finds what was handed to the node as it was accepted, from the id on that its last beat told', async () => {
      const scene = use();
      const to = [await scene.endpoint()];
      const [over = ''] = await scene.publish({ to, state: 'leased' });
      const [id = ''] = await scene.publish({ to, state: 'leased' });
      const lost = (await scene.store.listDeliveries({ limit: 10, order: 'ascending' })).items;
      expect(ids(lost)).toEqual([over, id]);
      const beat = { epoch: scene.epoch, now: T0, leaseMs: LEASE_MS };
      await scene.store.heartbeat({ ...beat, handedFrom: over });
      await scene.store.heartbeat(beat);
      const heir = await scene.join(EXPIRED);
      expect(ids(await scene.takeOver(heir, EXPIRED))).toEqual([over, id]);
    });

    it('is idempotent: what was taken is not taken again', async () => {
      const scene = use();
      await scene.publishMany(3, { to: [await scene.endpoint()] });
      await scene.claim();
      const heir = await scene.join(EXPIRED);
      expect(await scene.takeOver(heir, EXPIRED)).toHaveLength(3);
      expect(await scene.takeOver(heir, EXPIRED)).toEqual([]);
    });

    it('BUD-07 takes at most what it is asked to, oldest first, and the rest at the next call', async () => {
      const scene = use();
      const stored = await scene.publishMany(5, { to: [await scene.endpoint()] });
      await scene.claim();
      const heir = await scene.join(EXPIRED);
      expect(ids(await scene.takeOver(heir, EXPIRED, 2))).toEqual(stored.slice(0, 2));
      expect(await scene.store.heartbeat({ epoch: scene.epoch, now: EXPIRED, leaseMs: LEASE_MS })).toBe('fenced');
      expect(ids(await scene.takeOver(heir, EXPIRED, 2))).toEqual(stored.slice(2, 4));
      expect(ids(await scene.takeOver(heir, EXPIRED, 2))).toEqual(stored.slice(4));
      expect(await scene.takeOver(heir, EXPIRED, 2)).toEqual([]);
    });

    it('takes from several nodes in one call', async () => {
      const scene = use();
      const second = await scene.join();
      const to = [await scene.endpoint()];
      const [a = ''] = await scene.publish({ to });
      await scene.claim();
      const [b = ''] = await scene.publish({ to });
      await scene.claim({ epoch: second });
      const heir = await scene.join(EXPIRED);
      expect(new Set(ids(await scene.takeOver(heir, EXPIRED)))).toEqual(new Set([a, b]));
    });

    it('two heirs never get the same delivery', async () => {
      const scene = use();
      const stored = await scene.publishMany(6, { to: [await scene.endpoint()] });
      await scene.claim();
      const heirs = [await scene.join(EXPIRED), await scene.join(EXPIRED)];
      const taken = await Promise.all(heirs.map((heir) => scene.takeOver(heir, EXPIRED, 4)));
      expect(sorted(taken.flatMap(ids))).toEqual(stored);
    });

    it('a fenced node takes nothing over, and an expired one never takes from itself', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      await scene.claim();
      expect(await scene.takeOver(scene.epoch, EXPIRED)).toEqual([]);
      const left = await scene.join(EXPIRED);
      await scene.store.leave({ epoch: left });
      expect(await scene.takeOver(left, EXPIRED)).toEqual([]);
      expect(ids(await scene.takeOver(await scene.join(EXPIRED), EXPIRED))).toEqual([id]);
    });

    it('lanes that a dead node had to itself are found by others', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const stored = await scene.publishMany(3, { to: [to] });
      await scene.claim({ room: 1 });
      const heir = await scene.join(EXPIRED);
      expect(ids(await scene.takeOver(heir, EXPIRED))).toEqual(stored.slice(0, 1));
      expect(ids((await scene.claim({ epoch: heir })).deliveries)).toEqual(stored.slice(1));
    });

    it('lanes that a node had to itself when it left are found by others', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [first = '', second = ''] = await scene.publishMany(2, { to: [to] });
      await scene.claim({ room: 1 });
      await scene.store.release({ epoch: scene.epoch, now: T0, ids: [first] });
      await scene.store.leave({ epoch: scene.epoch });
      const heir = await scene.join();
      await scene.takeOver(heir, T0);
      expect(ids((await scene.claim({ epoch: heir })).deliveries)).toEqual([first, second]);
    });
  });
}
