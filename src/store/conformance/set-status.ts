import { describe, expect, it } from 'vitest';
import type { Use } from './harness.ts';
import { ids, PLENTY, REJECTED, T0 } from './scene.ts';

export function exerciseSetStatus(use: Use): void {
  describe('setStatus', () => {
    it.each(['paused', 'failed', 'disabled'] as const)(
      'sets %s with its reason and keeps the failures',
      async (status) => {
        const scene = use();
        const to = await scene.endpoint();
        const [id = ''] = await scene.publish({ to: [to] });
        await scene.record(await scene.claimOne(id), REJECTED);
        const health = await scene.store.setStatus({ endpointId: to, status, reason: 'by hand', now: T0 });
        expect(health).toMatchObject({ status, reason: 'by hand', failureCount: 1 });
        expect(await scene.health(to)).toEqual(health);
      },
    );

    it('SPI-08 active again: no reason, failureCount 0', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [id = ''] = await scene.publish({ to: [to] });
      await scene.record(await scene.claimOne(id), REJECTED);
      await scene.store.setStatus({ endpointId: to, status: 'failed', reason: 'broken', now: T0 });
      const health = await scene.store.setStatus({ endpointId: to, status: 'active', reason: 'fixed', now: T0 });
      expect(health).toMatchObject({ status: 'active', reason: '', failureCount: 0 });
    });

    it('answers nothing for an endpoint that is not there', async () => {
      const scene = use();
      expect(
        await scene.store.setStatus({ endpointId: 'ep_none', status: 'paused', reason: '', now: T0 }),
      ).toBeUndefined();
      expect(await scene.store.sweep({ now: T0, limit: PLENTY })).toEqual({ idle: true, moved: 0 });
    });

    it('changes the fan-out, so that messages chosen by the old status are stale', async () => {
      const scene = use();
      const to = await scene.endpoint();
      for (const status of ['paused', 'disabled', 'active'] as const) {
        const fanoutRevision = await scene.fanoutRevision();
        await scene.store.setStatus({ endpointId: to, status, reason: '', now: T0 });
        expect((await scene.offer({ to: [to], fanoutRevision })).result).toEqual({ kind: 'stale' });
      }
    });

    it('setting the status that it has leaves the fan-out and the deliveries alone', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const stored = await scene.publish({ to: [to] });
      const fanoutRevision = await scene.fanoutRevision();
      await scene.store.setStatus({ endpointId: to, status: 'active', reason: '', now: T0 });
      expect(await scene.fanoutRevision()).toBe(fanoutRevision);
      expect(ids((await scene.claim()).deliveries)).toEqual(stored);
    });

    it('SPI-09 what is leased at that moment may still end as it ends', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [id = ''] = await scene.publish({ to: [to] });
      await scene.claim();
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: '', now: T0 });
      await scene.sweepAll();
      expect(await scene.state(id)).toBe('leased');
    });

    it('SPI-08 an endpoint that was resumed before anything was held sends what it had pending', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const stored = await scene.publishMany(3, { to: [to] });
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: '', now: T0 });
      await scene.claim();
      await scene.store.setStatus({ endpointId: to, status: 'active', reason: '', now: T0 });
      await scene.sweepAll();
      expect(ids((await scene.claim()).deliveries)).toEqual(stored);
    });

    it('SPI-08 an endpoint that was resumed half-way through being held sends everything', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const stored = await scene.publishMany(5, { to: [to] });
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: '', now: T0 });
      await scene.store.sweep({ now: T0, limit: 2 });
      await scene.store.setStatus({ endpointId: to, status: 'active', reason: '', now: T0 });
      await scene.sweepAll();
      expect(ids((await scene.claim()).deliveries)).toEqual(stored);
    });

    it('SPI-09 an endpoint that was stopped half-way through being resumed keeps everything held', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const stored = await scene.publishMany(5, { to: [to] });
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: '', now: T0 });
      await scene.sweepAll();
      await scene.store.setStatus({ endpointId: to, status: 'active', reason: '', now: T0 });
      await scene.store.sweep({ now: T0, limit: 2 });
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: '', now: T0 });
      await scene.sweepAll();
      expect(new Set(await scene.states(stored))).toEqual(new Set(['held']));
    });
  });
}
