import { describe, expect, it } from 'vitest';
import type { Decision } from '../../model/index.ts';
import type { Use } from './harness.ts';
import { DELIVERED, EXHAUSTED, ids, LEASE_MS, MINUTE_MS, only, REJECTED, retryIn, T0 } from './scene.ts';

export function exerciseRecord(use: Use): void {
  describe('record', () => {
    it('ALL-05 keeps the attempt with its outcome, decision and reason', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      const claimed = await scene.claimOne(id);
      const item = scene.recordItem(claimed, retryIn(500), { error: 'timeout', status: 0, startedAt: T0 + 7 });
      const output = await scene.store.record({ epoch: scene.epoch, now: T0 + 200, items: [item] });
      expect(output.results).toEqual(['recorded']);
      expect(await scene.attempts(id)).toEqual([item.attempt]);
      const { messageId } = claimed;
      expect(await scene.store.getAttempt({ messageId, id: item.attempt.id })).toEqual(item.attempt);
    });

    it('ALL-05 gives every success of a batch its own answer, number, times and reason', async () => {
      const scene = use();
      const to = await scene.endpoints(3);
      await Promise.all(to.map((each) => scene.publishMany(3, { to: [each] })));
      const claimed = (await scene.claim({ now: T0 })).deliveries;
      const others = claimed.slice(3);
      const retries = claimed.slice(0, 3).map((delivery) => scene.recordItem(delivery, retryIn(0)));
      await scene.store.record({ epoch: scene.epoch, now: T0, items: retries });
      const retried = (await scene.claim({ now: T0 + 1000 })).deliveries;
      const responses = ['ok', 'é€😀', '', 'ok'];
      const items = [...retried, ...others].map((delivery, n) => {
        const decision = { kind: 'delivered', reason: `answered ${n % 2}` } as const;
        const item = scene.recordItem(delivery, decision, { startedAt: T0 + n, durationMs: n, status: 200 + (n % 3) });
        const response = responses[n % responses.length] ?? '';
        const attempt = { ...item.attempt, url: `https://customer.example/${n % 4}`, response };
        return { ...item, attempt, maxAttempts: 5 + (n % 2), firstAttemptAt: T0 + (n % 3 === 0 ? n : -1) };
      });
      expect(new Set(items.map(({ attempt }) => attempt.number))).toEqual(new Set([1, 2]));
      const { results } = await scene.store.record({ epoch: scene.epoch, now: T0 + 2000, items });
      expect(new Set(results)).toEqual(new Set(['recorded']));
      for (const { attempt, firstAttemptAt, maxAttempts, scheduleAttempts } of items) {
        const { reason } = attempt.decision;
        const expected = {
          state: 'delivered',
          attempts: attempt.number,
          scheduleAttempts,
          firstAttemptAt,
          maxAttempts,
          reason,
        };
        expect(await scene.delivery(attempt.deliveryId)).toMatchObject(expected);
        expect((await scene.attempts(attempt.deliveryId)).at(-1)).toEqual(attempt);
      }
    });

    it('delivered: final, and due no more', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      await scene.record(await scene.claimOne(id), DELIVERED, { startedAt: T0 + 5, now: T0 + 200 });
      const delivery = await scene.delivery(id);
      expect(delivery).toMatchObject({
        state: 'delivered',
        attempts: 1,
        scheduleAttempts: 1,
        firstAttemptAt: T0 + 5,
        updatedAt: T0 + 200,
        reason: DELIVERED.reason,
      });
      expect(delivery.dueAt).toBeUndefined();
    });

    it('retry: pending, due at the end of the attempt plus the delay, whenever it is recorded', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      await scene.record(await scene.claimOne(id), retryIn(5000), {
        startedAt: T0 + 10,
        durationMs: 30,
        now: T0 + 900,
      });
      const dueAt = T0 + 10 + 30 + 5000;
      expect(await scene.delivery(id)).toMatchObject({ state: 'pending', dueAt, attempts: 1, firstAttemptAt: T0 + 10 });
      expect((await scene.claim({ now: dueAt - 1 })).deliveries).toEqual([]);
      const again = await scene.claimOne(id, dueAt);
      expect(again).toMatchObject({ attempts: 1, scheduleAttempts: 1, firstAttemptAt: T0 + 10, dueAt });
    });

    it('ALL-02 a write that is repeated, because its answer was lost, does not end the next lease of the same node', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      for (const decision of [retryIn(0), DELIVERED]) {
        const item = scene.recordItem(await scene.claimOne(id, T0 + 1000), decision, { startedAt: T0 });
        const write = () => scene.store.record({ epoch: scene.epoch, now: T0 + 1000, items: [item] });
        expect((await write()).results).toEqual(['recorded']);
        if (decision !== DELIVERED) await scene.claimOne(id, T0 + 1000);
        const before = await scene.delivery(id);
        await write();
        expect(await scene.delivery(id)).toEqual(before);
        await scene.store.release({ epoch: scene.epoch, now: T0 + 1000, ids: [id] });
      }
      expect((await scene.attempts(id)).map(({ number }) => number)).toEqual([1, 2]);
    });

    it('numbers attempts 1, 2, 3 … and keeps the first attempt of the schedule', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      for (const [index, decision] of [retryIn(0), retryIn(0), DELIVERED].entries()) {
        const startedAt = T0 + index * 1000;
        await scene.record(await scene.claimOne(id, startedAt), decision, { startedAt });
      }
      expect((await scene.attempts(id)).map(({ number }) => number)).toEqual([1, 2, 3]);
      expect(await scene.delivery(id)).toMatchObject({ attempts: 3, scheduleAttempts: 3, firstAttemptAt: T0 });
    });

    it.each([REJECTED, EXHAUSTED])('SUB-04 a dead letter says why and since when: %o', async (decision) => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      await scene.record(await scene.claimOne(id), decision, { startedAt: T0 + 10, durationMs: 5 });
      const delivery = await scene.delivery(id);
      const deadCause = decision.kind === 'dead' ? decision.cause : undefined;
      expect(delivery).toMatchObject({ state: 'dead', deadCause, deadAt: T0 + 15, reason: decision.reason });
      expect(delivery.dueAt).toBeUndefined();
    });

    it('answers each item in order, and a lost lease among them does not stop the others', async () => {
      const scene = use();
      await scene.publishMany(3, { to: [await scene.endpoint()] });
      const { deliveries } = await scene.claim();
      const items = deliveries.map((delivery) => scene.recordItem(delivery, DELIVERED));
      const [first, second, third] = items;
      if (!first || !second || !third) throw new Error('three were published');
      await scene.store.release({ epoch: scene.epoch, now: T0, ids: [second.attempt.deliveryId] });
      const { results } = await scene.store.record({ epoch: scene.epoch, now: T0, items });
      expect(results).toEqual(['recorded', 'lease_lost', 'recorded']);
    });

    it('BUD-07 a lost lease changes nothing: no state, no attempt, no health, no due time', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [id = ''] = await scene.publish({ to: [to] });
      const stale = await scene.claimOne(id);
      const heir = await scene.join(T0 + LEASE_MS);
      const taken = only(await scene.takeOver(heir, T0 + LEASE_MS), id);
      const before = {
        delivery: await scene.delivery(id),
        health: await scene.health(to),
        counts: await scene.store.counts({ most: 10_000 }),
      };
      for (const decision of [DELIVERED, retryIn(0), { ...EXHAUSTED, endpoint: 'fail' } as Decision]) {
        const output = await scene.record(stale, decision, { now: T0 + LEASE_MS });
        expect(output).toEqual({ results: ['lease_lost'], endpoints: [] });
      }
      expect(await scene.attempts(id)).toEqual([]);
      const after = {
        delivery: await scene.delivery(id),
        health: await scene.health(to),
        counts: await scene.store.counts({ most: 10_000 }),
      };
      expect(after).toEqual(before);
      expect((await scene.record(taken, DELIVERED, { epoch: heir })).results).toEqual(['recorded']);
    });

    it('BUD-07 an attempt cannot be recorded twice under one lease', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      const claimed = await scene.claimOne(id);
      const items = [scene.recordItem(claimed, retryIn(0)), scene.recordItem(claimed, DELIVERED)];
      const { results } = await scene.store.record({ epoch: scene.epoch, now: T0, items });
      expect(results).toEqual(['recorded', 'lease_lost']);
      expect(await scene.state(id)).toBe('pending');
    });

    it('SPI-09 a retry is held when its endpoint was stopped meanwhile, with the time it was due', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [id = ''] = await scene.publish({ to: [to] });
      const claimed = await scene.claimOne(id);
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: 'by hand', now: T0 });
      await scene.sweepAll();
      await scene.record(claimed, retryIn(MINUTE_MS), { durationMs: 0 });
      expect(await scene.delivery(id)).toMatchObject({ state: 'held', dueAt: T0 + MINUTE_MS, attempts: 1 });
    });

    it('a retry is cancelled when its endpoint was deleted meanwhile; a success still counts', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [retried = '', delivered = ''] = await scene.publishMany(2, { to: [to] });
      const { deliveries } = await scene.claim();
      await scene.store.remove({ kind: 'endpoint', id: to, now: T0 });
      await scene.sweepAll();
      await scene.record(only(deliveries, retried), retryIn(0));
      await scene.record(only(deliveries, delivered), DELIVERED);
      expect(await scene.states([retried, delivered])).toEqual(['cancelled', 'delivered']);
      expect((await scene.delivery(retried)).dueAt).toBeUndefined();
    });

    it('a delivery of another node is not touched by this one', async () => {
      const scene = use();
      const other = await scene.join();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      const claimed = await scene.claimOne(id);
      expect((await scene.record(claimed, DELIVERED, { epoch: other })).results).toEqual(['lease_lost']);
      expect(await scene.state(id)).toBe('leased');
    });

    it('a retry makes its lane known again, at the right time, whatever the order of the batch', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const stored = await scene.publishMany(3, { to: [to] });
      const { deliveries } = await scene.claim();
      const delays = [3000, 1000, 2000];
      const items = deliveries.map((each, i) => scene.recordItem(each, retryIn(delays[i] ?? 0), { durationMs: 0 }));
      await scene.store.record({ epoch: scene.epoch, now: T0, items });
      expect((await scene.claim()).nextDueAt).toBe(T0 + 1000);
      const order = ids((await scene.claim({ now: T0 + 3000 })).deliveries);
      expect(order).toEqual([stored[1], stored[2], stored[0]]);
    });
  });
}
