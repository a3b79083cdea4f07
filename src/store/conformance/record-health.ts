import { describe, expect, it } from 'vitest';
import type { Decision } from '../../model/index.ts';
import type { Use } from './harness.ts';
import { DELIVERED, EXHAUSTED, REJECTED, retryIn, T0 } from './scene.ts';

const FAIL: Decision = { kind: 'dead', cause: 'exhausted', reason: 'attempts exhausted', endpoint: 'fail' };
const FAIL_WHEN_SILENT: Decision = { ...FAIL, endpoint: 'fail-when-silent' };
const GONE: Decision = { kind: 'dead', cause: 'rejected', reason: '410: the endpoint is gone', endpoint: 'disable' };

export function exerciseRecordHealth(use: Use): void {
  describe('record: endpoint health', () => {
    it('SPI-06 every failed attempt raises failureCount, a success sets it to 0', async () => {
      const scene = use();
      const to = await scene.endpoint();
      await scene.publishMany(4, { to: [to] });
      const { deliveries } = await scene.claim();
      const decisions = [retryIn(1e6), REJECTED, EXHAUSTED, DELIVERED];
      const counts: (number | undefined)[] = [];
      for (const [index, delivery] of deliveries.entries()) {
        const decision = decisions[index] ?? DELIVERED;
        const output = await scene.record(delivery, decision, { startedAt: T0 + index * 10_000 });
        const health = await scene.health(to);
        counts.push(health?.failureCount);
        expect(output.endpoints).toEqual([
          { id: to, applicationId: scene.applicationId, health, statusChanged: false },
        ]);
      }
      expect(counts).toEqual([1, 2, 3, 0]);
      expect(await scene.health(to)).toEqual({
        status: 'active',
        reason: '',
        failureCount: 0,
        lastFailureAt: T0 + 20_100,
        lastSuccessAt: T0 + 30_100,
      });
    });

    it('a success of a healthy endpoint is no change to tell of', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      expect((await scene.record(await scene.claimOne(id), DELIVERED)).endpoints).toEqual([]);
    });

    it('one batch is applied attempt by attempt, in order, and told once', async () => {
      const scene = use();
      const to = await scene.endpoint();
      await scene.publishMany(3, { to: [to] });
      const { deliveries } = await scene.claim();
      const decisions = [REJECTED, DELIVERED, REJECTED];
      const items = deliveries.map((each, index) => scene.recordItem(each, decisions[index] ?? DELIVERED));
      const { endpoints } = await scene.store.record({ epoch: scene.epoch, now: T0, items });
      expect(endpoints).toHaveLength(1);
      expect(endpoints[0]?.health.failureCount).toBe(1);
    });

    it('SPI-06 exhaustion fails the endpoint when the policy says so, and its other deliveries are held', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [dead = '', leased = '', waiting = ''] = await scene.publishMany(3, { to: [to] });
      const { deliveries } = await scene.claim({ room: 2 });
      const revision = await scene.fanoutRevision();
      const [first, second] = deliveries;
      if (!first || !second) throw new Error('two were claimed');
      const { endpoints } = await scene.record(first, FAIL);
      expect(endpoints).toMatchObject([
        { id: to, statusChanged: true, health: { status: 'failed', reason: 'attempts exhausted', failureCount: 1 } },
      ]);
      expect(await scene.fanoutRevision()).toBeGreaterThan(revision);
      await scene.record(second, retryIn(0));
      await scene.sweepAll();
      expect(await scene.states([dead, leased, waiting])).toEqual(['dead', 'held', 'held']);
      expect((await scene.claim({ now: T0 + 1e6 })).deliveries).toEqual([]);
    });

    it('an endpoint that fails within a batch holds the retries on both sides of it', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const stored = await scene.publishMany(3, { to: [to] });
      const { deliveries } = await scene.claim();
      const decisions = [retryIn(0), FAIL, retryIn(0)];
      const items = deliveries.map((each, index) => scene.recordItem(each, decisions[index] ?? DELIVERED));
      await scene.store.record({ epoch: scene.epoch, now: T0 + 100, items });
      expect((await scene.claim({ now: T0 + 1e6 })).deliveries).toEqual([]);
      await scene.sweepAll();
      expect(await scene.states(stored)).toEqual(['held', 'dead', 'held']);
    });

    it('fail-when-silent fails an endpoint that accepted nothing since the first attempt', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [early = '', doomed = ''] = await scene.publishMany(2, { to: [to] });
      const { deliveries } = await scene.claim();
      await scene.record(deliveries.find(({ id }) => id === early) ?? fail(), DELIVERED, { startedAt: T0 });
      const last = deliveries.find(({ id }) => id === doomed) ?? fail();
      await scene.record(last, FAIL_WHEN_SILENT, { startedAt: T0 + 90_000, firstAttemptAt: T0 + 5000 });
      expect((await scene.health(to))?.status).toBe('failed');
    });

    it('fail-when-silent spares an endpoint that accepted something since the first attempt', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [early = '', doomed = ''] = await scene.publishMany(2, { to: [to] });
      const { deliveries } = await scene.claim();
      await scene.record(deliveries.find(({ id }) => id === early) ?? fail(), DELIVERED, { startedAt: T0 + 10_000 });
      const last = deliveries.find(({ id }) => id === doomed) ?? fail();
      await scene.record(last, FAIL_WHEN_SILENT, { startedAt: T0 + 90_000, firstAttemptAt: T0 + 5000 });
      expect(await scene.health(to)).toMatchObject({ status: 'active', failureCount: 1 });
      expect(await scene.state(doomed)).toBe('dead');
    });

    it('an endpoint that says it is gone is disabled', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [id = '', other = ''] = await scene.publishMany(2, { to: [to] });
      const { deliveries } = await scene.claim({ room: 1 });
      await scene.record(deliveries.find((each) => each.id === id) ?? fail(), GONE);
      expect(await scene.health(to)).toMatchObject({ status: 'disabled', reason: GONE.reason });
      await scene.sweepAll();
      expect(await scene.state(other)).toBe('held');
    });

    it('a success that was in flight does not bring a stopped endpoint back', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [id = ''] = await scene.publish({ to: [to] });
      const claimed = await scene.claimOne(id);
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: 'by hand', now: T0 });
      await scene.record(claimed, DELIVERED);
      expect(await scene.health(to)).toMatchObject({ status: 'paused', reason: 'by hand' });
      expect(await scene.state(id)).toBe('delivered');
    });

    it('an interrupted attempt counts as an attempt and leaves the health alone', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [id = ''] = await scene.publish({ to: [to] });
      const before = await scene.health(to);
      const output = await scene.record(await scene.claimOne(id), retryIn(0), { error: 'interrupted', status: 0 });
      expect(output).toEqual({ results: ['recorded'], endpoints: [] });
      expect(await scene.health(to)).toEqual(before);
      expect((await scene.delivery(id)).attempts).toBe(1);
    });
  });
}

function fail(): never {
  throw new Error('the delivery was not claimed');
}
