import { describe, expect, it } from 'vitest';
import type { Use } from './harness.ts';
import { DELIVERED, ids, MINUTE_MS, REJECTED, retryIn, T0 } from './scene.ts';

const FINISHED = ['delivered', 'dead', 'cancelled', 'held'] as const;

export function exerciseRedeliver(use: Use): void {
  describe('redeliver', () => {
    it('SUB-11 a dead letter leaves the dead-letter queue with a full new schedule', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      await scene.record(await scene.claimOne(id), retryIn(0), { durationMs: 0 });
      await scene.record(await scene.claimOne(id), REJECTED);
      const now = T0 + MINUTE_MS;
      const output = await scene.store.redeliver({ now, select: { ids: [id] }, from: ['dead'] });
      expect(output).toEqual({ ids: [id], more: false });
      const delivery = await scene.delivery(id);
      expect(delivery).toMatchObject({
        state: 'pending',
        trigger: 'manual',
        attempts: 2,
        scheduleAttempts: 0,
        dueAt: now,
      });
      expect([delivery.deadCause, delivery.deadAt, delivery.firstAttemptAt]).toEqual([undefined, undefined, undefined]);
      expect((await scene.store.counts({ most: 10_000 })).dead).toBe(0);
    });

    it('BUD-09 keeps the identity and the bytes, and attempt numbers go on rising', async () => {
      const scene = use();
      const payload = Uint8Array.of(0, 1, 0xff);
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()], message: { payload } });
      const first = await scene.claimOne(id);
      await scene.record(first, REJECTED);
      await scene.store.redeliver({ now: T0 + 500, select: { ids: [id] }, from: ['dead'] });
      const again = await scene.claimOne(id, T0 + 500);
      expect(again).toMatchObject({ messageId: first.messageId, trigger: 'manual', attempts: 1, scheduleAttempts: 0 });
      expect(Buffer.compare(again.payload, payload)).toBe(0);
      await scene.record(again, DELIVERED, { startedAt: T0 + 500 });
      expect((await scene.attempts(id)).map(({ number, trigger }) => [number, trigger])).toEqual([
        [1, 'scheduled'],
        [2, 'manual'],
      ]);
      expect(await scene.delivery(id)).toMatchObject({
        state: 'delivered',
        attempts: 2,
        scheduleAttempts: 1,
        firstAttemptAt: T0 + 500,
      });
    });

    it('sends a delivered one again', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      await scene.record(await scene.claimOne(id), DELIVERED);
      await scene.store.redeliver({ now: T0 + 500, select: { ids: [id] }, from: [...FINISHED] });
      expect(ids((await scene.claim({ now: T0 + 500 })).deliveries)).toEqual([id]);
    });

    it('takes only deliveries in the states that it is asked for', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const dead = await scene.deadLetter(to);
      const [leased = ''] = await scene.publish({ to: [to] });
      await scene.claim();
      const [pending = ''] = await scene.publish({ to: [to] });
      const select = { ids: [leased, pending, dead, 'dlv_none'] };
      expect(await scene.store.redeliver({ now: T0, select, from: ['dead'] })).toEqual({ ids: [dead], more: false });
      expect(await scene.states([leased, pending])).toEqual(['leased', 'pending']);
    });

    it('SPI-09 is held while the endpoint is stopped, and sent when it is resumed', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const dead = await scene.deadLetter(to);
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: '', now: T0 });
      await scene.sweepAll();
      await scene.store.redeliver({ now: T0 + 5, select: { ids: [dead] }, from: ['dead'] });
      expect(await scene.delivery(dead)).toMatchObject({ state: 'held', trigger: 'manual', dueAt: T0 + 5 });
      await scene.store.setStatus({ endpointId: to, status: 'active', reason: '', now: T0 });
      await scene.sweepAll();
      expect(ids((await scene.claim({ now: T0 + 5 })).deliveries)).toEqual([dead]);
    });

    it('leaves alone what has no endpoint any more', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const dead = await scene.deadLetter(to);
      await scene.store.remove({ kind: 'endpoint', id: to, now: T0 });
      await scene.sweepAll();
      for (const select of [{ ids: [dead] }, { filter: { destinationId: to }, limit: 10 }]) {
        expect(await scene.store.redeliver({ now: T0, select, from: ['dead'] })).toEqual({ ids: [], more: false });
      }
      expect(await scene.state(dead)).toBe('dead');
    });

    it('by filter: a bounded number, oldest first, says whether more match, and each one once', async () => {
      const scene = use();
      const [to = '', other = ''] = await scene.endpoints(2);
      const dead: string[] = [];
      for (let i = 0; i < 5; i++) dead.push(await scene.deadLetter(to));
      const elsewhere = await scene.deadLetter(other);
      const select = { filter: { destinationId: to }, limit: 2 };
      const steps = [];
      for (let i = 0; i < 3; i++) steps.push(await scene.store.redeliver({ now: T0, select, from: ['dead'] }));
      expect(steps).toEqual([
        { ids: dead.slice(0, 2), more: true },
        { ids: dead.slice(2, 4), more: true },
        { ids: dead.slice(4), more: false },
      ]);
      expect(await scene.state(elsewhere)).toBe('dead');
    });

    it('by filter: an exact fit is not more', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const dead = [await scene.deadLetter(to), await scene.deadLetter(to)];
      const output = await scene.store.redeliver({ now: T0, select: { filter: {}, limit: 2 }, from: ['dead'] });
      expect(output).toEqual({ ids: dead, more: false });
    });

    it('by filter: states that the caller does not allow are never taken', async () => {
      const scene = use();
      await scene.publish({ to: [await scene.endpoint()] });
      const select = { filter: { states: ['pending'] as const }, limit: 10 };
      expect(await scene.store.redeliver({ now: T0, select, from: ['dead'] })).toEqual({ ids: [], more: false });
    });
  });
}

export function exerciseAddDelivery(use: Use): void {
  describe('addDelivery', () => {
    it('gives an existing message one more destination, sent by hand', async () => {
      const scene = use();
      const [first = '', second = ''] = await scene.endpoints(2);
      const { messageId } = await scene.offer({ to: [first] });
      const input = {
        now: T0,
        id: scene.id('dlv'),
        applicationId: scene.applicationId,
        messageId,
        destinationId: second,
      };
      expect(await scene.store.addDelivery(input)).toBe('added');
      expect(await scene.delivery(input.id)).toMatchObject({
        messageId,
        destinationId: second,
        state: 'pending',
        trigger: 'manual',
      });
      expect(ids((await scene.claim()).deliveries)).toContain(input.id);
      expect(await scene.store.addDelivery({ ...input, id: scene.id('dlv') })).toBe('exists');
    });

    it('SPI-09 is held while the endpoint is stopped', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const { messageId } = await scene.offer({ to: [] });
      await scene.store.setStatus({ endpointId: to, status: 'disabled', reason: '', now: T0 });
      const id = scene.id('dlv');
      await scene.store.addDelivery({ now: T0, id, applicationId: scene.applicationId, messageId, destinationId: to });
      expect(await scene.state(id)).toBe('held');
    });

    it('says missing when the message, or the endpoint, is not there', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const { messageId } = await scene.offer({ to: [] });
      const id = scene.id('dlv');
      const base = { now: T0, id, applicationId: scene.applicationId };
      expect(await scene.store.addDelivery({ ...base, messageId: 'msg_none', destinationId: to })).toBe('missing');
      expect(await scene.store.addDelivery({ ...base, messageId, destinationId: 'ep_none' })).toBe('missing');
      expect(await scene.store.addDelivery({ ...base, applicationId: 'app_none', messageId, destinationId: to })).toBe(
        'missing',
      );
      expect(await scene.store.getDelivery({ id })).toBeUndefined();
    });
  });
}

export function exerciseDiscard(use: Use): void {
  describe('discard', () => {
    it('gives a dead letter up and keeps the reason', async () => {
      const scene = use();
      const dead = await scene.deadLetter(await scene.endpoint());
      const output = await scene.store.discard({ now: T0 + 9, select: { ids: [dead] }, reason: 'test data' });
      expect(output).toEqual({ ids: [dead], more: false });
      const delivery = await scene.delivery(dead);
      expect(delivery).toMatchObject({ state: 'cancelled', updatedAt: T0 + 9, attempts: 1 });
      expect(delivery.reason).toContain('test data');
      expect(delivery.deadCause).toBeUndefined();
    });

    it('touches nothing but dead letters', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [delivered = ''] = await scene.publish({ to: [to] });
      await scene.record(await scene.claimOne(delivered), DELIVERED);
      const [pending = ''] = await scene.publish({ to: [to] });
      const select = { ids: [delivered, pending] };
      expect((await scene.store.discard({ now: T0, select, reason: '' })).ids).toEqual([]);
      expect(await scene.states([delivered, pending])).toEqual(['delivered', 'pending']);
    });

    it('by filter: a bounded number, and says whether more match', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const dead: string[] = [];
      for (let i = 0; i < 3; i++) dead.push(await scene.deadLetter(to, { eventType: i === 0 ? 'a' : 'b' }));
      const select = { filter: { eventTypes: ['b'] }, limit: 1 };
      expect(await scene.store.discard({ now: T0, select, reason: '' })).toEqual({ ids: [dead[1]], more: true });
      expect(await scene.store.discard({ now: T0, select, reason: '' })).toEqual({ ids: [dead[2]], more: false });
      expect(await scene.state(dead[0] ?? '')).toBe('dead');
    });

    it('a discarded one can be sent again by hand', async () => {
      const scene = use();
      const dead = await scene.deadLetter(await scene.endpoint());
      await scene.store.discard({ now: T0, select: { ids: [dead] }, reason: '' });
      await scene.store.redeliver({ now: T0, select: { ids: [dead] }, from: [...FINISHED] });
      expect(await scene.state(dead)).toBe('pending');
    });
  });
}
