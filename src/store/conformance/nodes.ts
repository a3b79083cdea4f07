import { describe, expect, it } from 'vitest';
import type { StoreCapabilities, Use } from './harness.ts';
import { ids, LEASE_MS, T0 } from './scene.ts';

export function exerciseNodes(use: Use, capabilities: StoreCapabilities): void {
  describe('join', () => {
    it('gives every node an epoch of its own that never comes back', async () => {
      const scene = use();
      const first = await scene.join();
      await scene.store.leave({ epoch: first });
      const second = await scene.join();
      await scene.takeOver(second, T0 + 1);
      const third = await scene.join();
      expect(first).toBeGreaterThan(scene.epoch);
      expect(second).toBeGreaterThan(first);
      expect(third).toBeGreaterThan(second);
    });

    if (capabilities.durable)
      it('epochs go on rising after the store was opened again', async () => {
        const scene = use();
        await scene.reopen();
        expect(await scene.join()).toBeGreaterThan(scene.epoch);
      });

    if (capabilities.soleProcess)
      it('BUD-07 leases of a former process are free as soon as the store is open', async () => {
        const scene = use();
        const to = await scene.endpoint();
        const [id = ''] = await scene.publish({ to: [to] });
        await scene.claim();
        const waiting = await scene.publishMany(3, { to: [to] });
        await scene.claim({ room: 1 });
        const former = scene.epoch;
        await scene.reopen();
        expect(await scene.store.heartbeat({ epoch: former, now: T0, leaseMs: LEASE_MS })).toBe('fenced');
        const epoch = await scene.join();
        expect(ids(await scene.takeOver(epoch, T0))).toEqual([id, waiting[0]]);
        expect(ids((await scene.claim({ epoch })).deliveries)).toEqual(waiting.slice(1));
      });
  });

  describe('heartbeat', () => {
    it('keeps a node alive past its first lease', async () => {
      const scene = use();
      const other = await scene.join(T0, 100 * LEASE_MS);
      await scene.publish({ to: [await scene.endpoint()] });
      await scene.claim();
      const beat = await scene.store.heartbeat({ epoch: scene.epoch, now: T0 + LEASE_MS - 1, leaseMs: LEASE_MS });
      expect(beat).toBe('leading');
      expect(await scene.takeOver(other, T0 + 2 * LEASE_MS - 2)).toEqual([]);
    });

    it('BUD-07 a node that is late, but that nobody took over from, stays alive', async () => {
      const scene = use();
      const now = T0 + 50 * LEASE_MS;
      expect(await scene.store.heartbeat({ epoch: scene.epoch, now, leaseMs: LEASE_MS })).toBe('alone');
      expect((await scene.claim()).fenced).toBe(false);
    });

    it('BUD-07 a node that somebody took over from is fenced for good, even with nothing leased', async () => {
      const scene = use();
      const heir = await scene.join(T0 + LEASE_MS);
      await scene.takeOver(heir, T0 + LEASE_MS);
      for (const now of [T0, T0 + LEASE_MS + 1]) {
        expect(await scene.store.heartbeat({ epoch: scene.epoch, now, leaseMs: LEASE_MS })).toBe('fenced');
      }
      expect((await scene.claim()).fenced).toBe(true);
    });

    it('the living node with the lowest epoch leads, and no other', async () => {
      const scene = use();
      const second = await scene.join();
      const third = await scene.join();
      const beats = async (now: number, ...epochs: number[]) => {
        const answers: string[] = [];
        for (const epoch of epochs) answers.push(await scene.store.heartbeat({ epoch, now, leaseMs: LEASE_MS }));
        return answers;
      };
      expect(await beats(T0 + 1, third, second, scene.epoch)).toEqual(['alive', 'alive', 'leading']);
      // The first falls silent: the next one leads as soon as the lease is over, and only once it is.
      const end = T0 + 1 + LEASE_MS;
      expect(await beats(end - 1, third, second)).toEqual(['alive', 'alive']);
      expect(await beats(end, third, second)).toEqual(['alive', 'leading']);
      // Late, but nobody took over from it: it leads again, and the other hears of it at its next beat.
      expect(await beats(end + 1, scene.epoch, second)).toEqual(['leading', 'alive']);
      await scene.store.leave({ epoch: scene.epoch });
      expect(await beats(end + 2, third, second)).toEqual(['alive', 'leading']);
    });

    it('a node hears whether another is alive, when it joins and at every beat', async () => {
      const scene = use();
      const beat = async (epoch: number, now: number) => scene.store.heartbeat({ epoch, now, leaseMs: LEASE_MS });
      expect(await beat(scene.epoch, T0)).toBe('alone');
      const second = await scene.store.join({ now: T0, leaseMs: LEASE_MS, name: 'second' });
      expect(second.alone).toBe(false);
      expect(await beat(scene.epoch, T0 + 1)).toBe('leading');
      expect(await beat(second.epoch, T0 + 1 + LEASE_MS)).toBe('alone');
      const third = await scene.store.join({ now: T0 + 1 + 2 * LEASE_MS, leaseMs: LEASE_MS, name: 'third' });
      expect(third.alone).toBe(true);
    });

    it('an epoch that was never given out is fenced', async () => {
      const beat = await use().store.heartbeat({ epoch: 999_999, now: T0, leaseMs: LEASE_MS });
      expect(beat).toBe('fenced');
    });
  });

  describe('leave', () => {
    it('ends the lease at once: a heartbeat is fenced, and what was leased is up for takeOver', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      await scene.claim();
      const heir = await scene.join();
      await scene.store.leave({ epoch: scene.epoch });
      expect(await scene.store.heartbeat({ epoch: scene.epoch, now: T0, leaseMs: LEASE_MS })).toBe('fenced');
      expect(ids(await scene.takeOver(heir, T0))).toEqual([id]);
    });

    it('leaving twice, or without having joined, does no harm', async () => {
      const scene = use();
      const heir = await scene.join();
      await scene.store.leave({ epoch: scene.epoch });
      await scene.store.leave({ epoch: scene.epoch });
      await scene.store.leave({ epoch: 999_999 });
      expect(await scene.store.heartbeat({ epoch: heir, now: T0, leaseMs: LEASE_MS })).toBe('alone');
    });
  });
}
