import { describe, expect, it } from 'vitest';
import type { Use } from './harness.ts';
import { DELIVERED, ids, MINUTE_MS, retryIn, sorted, T0 } from './scene.ts';

export function exerciseClaim(use: Use): void {
  describe('claim', () => {
    it('hands out what a sender needs, without another read', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const {
        messageId,
        ids: [id = ''],
      } = await scene.offer({ to: [to], message: { eventType: 'a.b' } });
      const { fenced, deliveries } = await scene.claim();
      expect(fenced).toBe(false);
      expect(deliveries).toHaveLength(1);
      expect(deliveries[0]).toMatchObject({
        id,
        messageId,
        applicationId: scene.applicationId,
        destinationId: to,
        eventType: 'a.b',
        trigger: 'scheduled',
        attempts: 0,
        scheduleAttempts: 0,
        dueAt: T0,
        createdAt: T0,
      });
      expect(deliveries[0]?.firstAttemptAt).toBeUndefined();
      expect(await scene.state(id)).toBe('leased');
    });

    it('takes the oldest due first within a lane', async () => {
      const scene = use();
      const to = [await scene.endpoint()];
      const [late = ''] = await scene.publish({ to, now: T0 + 20 });
      const [early = ''] = await scene.publish({ to, now: T0 + 10 });
      const [middle = ''] = await scene.publish({ to, now: T0 + 15 });
      expect(ids((await scene.claim({ now: T0 + 20, room: 2 })).deliveries)).toEqual([early, middle]);
      const rest = await scene.claim({ now: T0 + 20, lanes: [{ destinationId: to[0] ?? '', room: 5 }] });
      expect(ids(rest.deliveries)).toEqual([late]);
    });

    it('SUB-10 hands a lane out in the order of its due times, and of its ids where they are the same', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const stored: { id: string; dueAt: number }[] = [];
      for (let n = 0; n < 24; n++) {
        const dueAt = T0 + ((n * 5) % 12);
        const [id = ''] = await scene.publish({ to: [to], now: dueAt });
        stored.push({ id, dueAt });
      }
      stored.sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1));
      const { deliveries } = await scene.claim({ now: T0 + 12, room: 24 });
      expect(ids(deliveries)).toEqual(stored.map(({ id }) => id));
    });

    it('opens the lane that has waited longest first', async () => {
      const scene = use();
      const [a = '', b = ''] = await scene.endpoints(2);
      await scene.publish({ to: [a], now: T0 + 10 });
      await scene.publish({ to: [b], now: T0 + 5 });
      const { lanes, moreLanes } = await scene.claim({ now: T0 + 10, discover: 1 });
      expect(lanes).toEqual([{ destinationId: b, more: false }]);
      expect(moreLanes).toBe(true);
    });

    it('takes nothing before it is due', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()], now: T0 + 10 });
      const early = await scene.claim({ now: T0 + 9 });
      expect(early).toMatchObject({ deliveries: [], lanes: [], moreLanes: false, nextDueAt: T0 + 10 });
      expect(ids((await scene.claim({ now: T0 + 10 })).deliveries)).toEqual([id]);
    });

    it('ALL-03 takes no more from a lane than it has room, and says that there is more', async () => {
      const scene = use();
      const [full = '', small = ''] = await scene.endpoints(2);
      await scene.publishMany(5, { to: [full] });
      await scene.publish({ to: [small] });
      const { deliveries, lanes } = await scene.claim({ room: 2 });
      expect(deliveries.filter((each) => each.destinationId === full)).toHaveLength(2);
      expect(deliveries.filter((each) => each.destinationId === small)).toHaveLength(1);
      expect(lanes).toContainEqual({ destinationId: full, more: true });
      expect(lanes).toContainEqual({ destinationId: small, more: false });
    });

    it('gives each named lane its own room, and no room means nothing', async () => {
      const scene = use();
      const [a = '', b = '', c = ''] = await scene.endpoints(3);
      await scene.publishMany(3, { to: [a, b, c] });
      const { deliveries, lanes } = await scene.claim({
        discover: 0,
        lanes: [
          { destinationId: a, room: 1 },
          { destinationId: b, room: 3 },
          { destinationId: c, room: 0 },
        ],
      });
      expect(deliveries.map((each) => each.destinationId)).toEqual([a, b, b, b]);
      expect(lanes).toEqual([
        { destinationId: a, more: true },
        { destinationId: b, more: false },
        { destinationId: c, more: true },
      ]);
    });

    it('a lane with more belongs to the node that was told: others do not find it, it asks by name', async () => {
      const scene = use();
      const other = await scene.join();
      const to = await scene.endpoint();
      const stored = await scene.publishMany(3, { to: [to] });
      await scene.claim({ room: 1 });
      const others = await scene.claim({ epoch: other });
      expect(others).toMatchObject({ deliveries: [], moreLanes: false });
      const mine = await scene.claim({ lanes: [{ destinationId: to, room: 5 }], discover: 0 });
      expect(ids(mine.deliveries)).toEqual(stored.slice(1));
      expect(mine.lanes).toEqual([{ destinationId: to, more: false }]);
      const [late = ''] = await scene.publish({ to: [to] });
      expect(ids((await scene.claim({ epoch: other })).deliveries)).toEqual([late]);
    });

    it('work that arrives in a lane with more is handed out with the rest', async () => {
      const scene = use();
      const to = await scene.endpoint();
      await scene.publishMany(2, { to: [to] });
      await scene.claim({ room: 1 });
      await scene.publish({ to: [to] });
      const { deliveries, lanes } = await scene.claim({ lanes: [{ destinationId: to, room: 5 }] });
      expect(deliveries).toHaveLength(2);
      expect(lanes).toEqual([{ destinationId: to, more: false }]);
    });

    it('a lane named twice over, by its node and by its due time, is looked at once', async () => {
      const scene = use();
      const to = await scene.endpoint();
      await scene.publishMany(3, { to: [to] });
      const { deliveries, lanes } = await scene.claim({ lanes: [{ destinationId: to, room: 1 }], room: 1 });
      expect(deliveries).toHaveLength(1);
      expect(lanes).toEqual([{ destinationId: to, more: true }]);
    });

    it('opens no more lanes than asked, and says whether some were left', async () => {
      const scene = use();
      const to = await scene.endpoints(3);
      await scene.publish({ to });
      const first = await scene.claim({ discover: 2 });
      expect(first.lanes).toHaveLength(2);
      expect(first).toMatchObject({ moreLanes: true, nextDueAt: undefined });
      const second = await scene.claim({ discover: 2 });
      expect(second.lanes).toHaveLength(1);
      expect(second).toMatchObject({ moreLanes: false, nextDueAt: undefined });
    });

    it('says when the next lane becomes due, over all lanes', async () => {
      const scene = use();
      const to = [await scene.endpoint()];
      const [id = ''] = await scene.publish({ to });
      await scene.publish({ to: [await scene.endpoint()], now: T0 + 90_000 });
      const claimed = await scene.claimOne(id);
      expect((await scene.claim()).nextDueAt).toBe(T0 + 90_000);
      await scene.record(claimed, retryIn(MINUTE_MS), { durationMs: 0 });
      expect((await scene.claim()).nextDueAt).toBe(T0 + MINUTE_MS);
      expect((await scene.claim({ now: T0 + MINUTE_MS })).nextDueAt).toBe(T0 + 90_000);
    });

    it('finds a lane again for its later work after its earlier work is done', async () => {
      const scene = use();
      const to = [await scene.endpoint()];
      const [first = ''] = await scene.publish({ to });
      const [second = ''] = await scene.publish({ to, now: T0 + 50 });
      const { nextDueAt } = await scene.claim();
      expect(nextDueAt).toBe(T0 + 50);
      expect(await scene.states([first, second])).toEqual(['leased', 'pending']);
      expect(ids((await scene.claim({ now: T0 + 50 })).deliveries)).toEqual([second]);
    });

    it.each(['paused', 'failed', 'disabled'] as const)(
      'SPI-09 hands out nothing of a %s endpoint, swept or not',
      async (status) => {
        const scene = use();
        const [stopped = '', active = ''] = await scene.endpoints(2);
        await scene.publish({ to: [stopped, active] });
        await scene.store.setStatus({ endpointId: stopped, status, reason: 'why', now: T0 });
        const claimed = await scene.claim({ lanes: [{ destinationId: stopped, room: 5 }] });
        expect(claimed.deliveries.map((each) => each.destinationId)).toEqual([active]);
        expect(claimed.lanes).toContainEqual({ destinationId: stopped, more: false });
        await scene.sweepAll();
        expect((await scene.claim({ now: T0 + MINUTE_MS })).deliveries).toEqual([]);
      },
    );

    it('hands out nothing of a deleted endpoint', async () => {
      const scene = use();
      const to = await scene.endpoint();
      await scene.publish({ to: [to] });
      await scene.store.remove({ kind: 'endpoint', id: to, now: T0 });
      expect((await scene.claim({ lanes: [{ destinationId: to, room: 5 }] })).deliveries).toEqual([]);
    });

    it('never hands one delivery to two nodes, however they race', async () => {
      const scene = use();
      const nodes = [scene.epoch, await scene.join(), await scene.join()];
      const to = await scene.endpoints(4);
      const stored = await scene.publishMany(5, { to });
      const outputs = await Promise.all(
        nodes.flatMap((epoch) => [
          scene.claim({ epoch, room: 2 }),
          scene.claim({ epoch, lanes: to.map((destinationId) => ({ destinationId, room: 3 })) }),
        ]),
      );
      const handedOut = outputs.flatMap(({ deliveries }) => ids(deliveries));
      expect(new Set(handedOut).size).toBe(handedOut.length);
      expect(sorted(handedOut)).toEqual(sorted(stored));
    });

    it('hands out no more bytes of payloads than it may, oldest first, and the lane has more', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const all = await scene.publishMany(5, { to: [to], message: { payload: new Uint8Array(1000) } });
      const first = await scene.claim({ maxBytes: 2999 });
      expect(ids(first.deliveries)).toEqual(all.slice(0, 2));
      expect(first.lanes).toEqual([{ destinationId: to, more: true }]);
      const rest = await scene.claim({ maxBytes: 3000, lanes: [{ destinationId: to, room: 5 }] });
      expect(ids(rest.deliveries)).toEqual(all.slice(2));
      expect(rest.lanes).toEqual([{ destinationId: to, more: false }]);
      expect(rest.deliveries.every(({ payload }) => payload.length === 1000)).toBe(true);
    });

    it('hands out one delivery however large it is', async () => {
      const scene = use();
      const [empty = '', a = '', b = ''] = await scene.endpoints(3);
      const message = { payload: new Uint8Array(1000) };
      const [first] = await scene.publish({ to: [a], message, now: T0 - 1 });
      await scene.publish({ to: [b], message });
      const lanes = [{ destinationId: empty, room: 5 }];
      for (const maxBytes of [0, 999]) {
        const { deliveries } = await scene.claim({ maxBytes, lanes });
        expect(deliveries).toHaveLength(1);
        if (maxBytes === 0) expect(ids(deliveries)).toEqual([first]);
        await scene.store.release({ epoch: scene.epoch, now: T0, ids: ids(deliveries) });
      }
    });

    it('ALL-03 shares the bytes: no lane takes all that there are, known or newly found', async () => {
      const scene = use();
      const [known = '', other = '', found = ''] = await scene.endpoints(3);
      for (const to of [known, other, found]) {
        await scene.publishMany(6, { to: [to], message: { payload: new Uint8Array(1000) } });
      }
      const lanes = [known, other].map((destinationId) => ({ destinationId, room: 10 }));
      const { deliveries, lanes: seen } = await scene.claim({ maxBytes: 6000, lanes });
      for (const to of [known, other, found]) {
        expect(deliveries.filter(({ destinationId }) => destinationId === to)).toHaveLength(2);
      }
      expect(seen.every(({ more }) => more)).toBe(true);
    });

    it('ALL-02 hands out nothing that is delivered', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      await scene.record(await scene.claimOne(id), DELIVERED);
      expect((await scene.claim({ now: T0 + 1e9 })).deliveries).toEqual([]);
    });

    it('BUD-07 a node that lost its lease gets nothing and learns it', async () => {
      const scene = use();
      await scene.publish({ to: [await scene.endpoint()] });
      await scene.store.leave({ epoch: scene.epoch });
      expect(await scene.claim()).toMatchObject({ fenced: true, deliveries: [], lanes: [] });
      expect((await scene.claim({ epoch: 999_999 })).fenced).toBe(true);
      expect((await scene.claim({ epoch: await scene.join() })).deliveries).toHaveLength(1);
    });
  });
}
