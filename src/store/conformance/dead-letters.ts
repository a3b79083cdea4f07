/** restore, purge and listGroups: what a dead-letter queue needs beside redeliver and discard. */
import { describe, expect, it } from 'vitest';
import type { Message } from '../../model/index.ts';
import { errorFingerprint } from '../../policy/index.ts';
import type { ArchivedDelivery, DeadLetterGroup, GroupKey } from '../store.ts';
import type { Use } from './harness.ts';
import {
  type AttemptInput,
  DELIVERED,
  EXHAUSTED,
  ids,
  only,
  PLENTY,
  REJECTED,
  type Scene,
  sorted,
  T0,
} from './scene.ts';

interface Death extends AttemptInput {
  readonly response?: string;
  readonly message?: Partial<Message>;
  readonly exhausted?: boolean;
}

/** One that died of this error at this time. */
async function die(scene: Scene, to: string, { response = 'broken', message = {}, exhausted, ...input }: Death = {}) {
  const [id = ''] = await scene.publish({ to: [to], message });
  const item = scene.recordItem(await scene.claimOne(id), exhausted ? EXHAUSTED : REJECTED, {
    durationMs: 0,
    ...input,
  });
  const attempt = { ...item.attempt, response };
  await scene.store.record({ epoch: scene.epoch, now: attempt.startedAt, items: [{ ...item, attempt }] });
  return id;
}

async function archived(scene: Scene, id: string): Promise<ArchivedDelivery> {
  const delivery = await scene.delivery(id);
  const message = await scene.store.getMessage({ applicationId: delivery.applicationId, id: delivery.messageId });
  if (message === undefined) throw new Error(`no message of ${id}`);
  return { delivery, message, attempts: await scene.attempts(id) };
}

const toItem = (id: string) => ({ id });

async function allGroups(scene: Scene, limit: number): Promise<DeadLetterGroup[]> {
  const groups: DeadLetterGroup[] = [];
  let after: GroupKey | undefined;
  do {
    const page = await scene.store.listGroups({ limit, most: PLENTY, ...(after && { after }) });
    groups.push(...page.groups);
    after = page.next;
  } while (after !== undefined);
  return groups;
}

export function exerciseDeadLetters(use: Use): void {
  describe('record', () => {
    it('PAY-09 keeps with a dead letter what it died of; what is not dead has none', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const id = await die(scene, to, { status: 503, response: 'try\nlater' });
      const fingerprint = errorFingerprint({ status: 503, response: 'try\nlater' });
      expect(await scene.delivery(id)).toMatchObject({ fingerprint, lastError: 'HTTP 503: try later' });
      await scene.store.redeliver({ now: T0, select: { ids: [id] }, from: ['dead'] });
      expect(Object.keys(await scene.delivery(id))).not.toContain('fingerprint');
      const given = await die(scene, to);
      await scene.store.discard({ now: T0, select: { ids: [given] }, reason: 'test data' });
      expect(Object.keys(await scene.delivery(given))).not.toContain('lastError');
    });
  });

  describe('listDeliveries', () => {
    it('SUB-11 finds dead letters by fingerprint, by words of the error in any case, and by the time of death', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const one = await die(scene, to, { response: 'Out of Memory', startedAt: T0 + 10 });
      const other = await die(scene, to, { response: 'disk 100% full', startedAt: T0 + 20 });
      const { fingerprint = '' } = await scene.delivery(one);
      expect(ids(await scene.deliveries({ fingerprint }))).toEqual([one]);
      expect(ids(await scene.deliveries({ error: 'of memory' }))).toEqual([one]);
      // Wildcards of SQL are words like any other.
      expect(ids(await scene.deliveries({ error: '100%' }))).toEqual([other]);
      expect(ids(await scene.deliveries({ error: '%' }))).toEqual([other]);
      expect(ids(await scene.deliveries({ error: 'of_memory' }))).toEqual([]);
      expect(ids(await scene.deliveries({ diedAfter: T0 + 10 }))).toEqual([other]);
      expect(ids(await scene.deliveries({ diedBefore: T0 + 20 }))).toEqual([one]);
      const filter = { fingerprint, applicationId: scene.applicationId };
      const select = { filter, limit: PLENTY };
      expect((await scene.store.redeliver({ now: T0, select, from: ['dead'] })).ids).toEqual([one]);
      expect(await scene.state(other)).toBe('dead');
    });
  });

  describe('listGroups', () => {
    it('PAY-09 has one for each owner, event type and fingerprint, with count, first, last and an example', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const otherApp = await scene.application();
      const elsewhere = await scene.endpoint({ applicationId: otherApp });
      await die(scene, to, { response: 'order 1 is broken', startedAt: T0 + 5 });
      const last = await die(scene, to, { response: 'order 2 is broken', startedAt: T0 + 9 });
      await die(scene, to, { response: 'order 3 is broken', message: { eventType: 'order.new' } });
      await die(scene, to, { status: 502, response: 'order 4 is broken' });
      await die(scene, elsewhere, { response: 'order 5 is broken', message: { applicationId: otherApp } });
      const [delivered = ''] = await scene.publish({ to: [to] });
      await scene.record(await scene.claimOne(delivered), DELIVERED);

      const groups = await allGroups(scene, PLENTY);
      const ofTwo = groups.find(({ count }) => count === 2);
      expect(groups.map(({ count }) => count).toSorted((a, b) => a - b)).toEqual([1, 1, 1, 2]);
      expect(ofTwo).toEqual({
        applicationId: scene.applicationId,
        eventType: 'invoice.paid',
        fingerprint: errorFingerprint({ status: 500, response: 'order 7 is broken' }),
        count: 2,
        firstAt: T0 + 5,
        lastAt: T0 + 9,
        example: await scene.delivery(last),
      });
      const own = await scene.store.listGroups({ applicationId: otherApp, limit: PLENTY, most: PLENTY });
      expect(own.groups.map(({ applicationId }) => applicationId)).toEqual([otherApp]);
      expect(own.next).toBeUndefined();
    });

    it('pages through all of them once each, however small the page', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const events = ['a', 'b', 'c', 'd', 'e'];
      for (const eventType of events) await die(scene, to, { message: { eventType } });
      for (const limit of [1, 2, 5, 6]) {
        expect((await allGroups(scene, limit)).map(({ eventType }) => eventType)).toEqual(events);
      }
      const exact = await scene.store.listGroups({ limit: 5, most: PLENTY });
      expect(exact.next).toBeUndefined();
    });

    it('counts within the time of death that is asked for, and not beyond the bound', async () => {
      const scene = use();
      const to = await scene.endpoint();
      for (const at of [1, 2, 3, 4]) await die(scene, to, { startedAt: T0 + at });
      await die(scene, to, { startedAt: T0 + 9, message: { eventType: 'later' } });
      const range = { diedAfter: T0 + 1, diedBefore: T0 + 4, limit: PLENTY };
      const { groups } = await scene.store.listGroups({ ...range, most: PLENTY });
      expect(groups).toMatchObject([{ count: 2, firstAt: T0 + 2, lastAt: T0 + 3, eventType: 'invoice.paid' }]);
      expect((await scene.store.listGroups({ ...range, most: 1 })).groups).toMatchObject([{ count: 1 }]);
    });
  });

  describe('purge', () => {
    it('SUB-13 deletes a dead letter with its attempts, and the message with the last of its deliveries', async () => {
      const scene = use();
      const [one = '', two = ''] = await scene.endpoints(2);
      const { ids: both, messageId } = await scene.offer({ to: [one, two] });
      for (const delivery of (await scene.claim()).deliveries) await scene.record(delivery, REJECTED);
      const [first = '', second = ''] = both;
      expect(await scene.store.purge({ items: [{ id: first }] })).toEqual({ ids: [first] });
      expect(await scene.store.getDelivery({ id: first })).toBeUndefined();
      expect(await scene.attempts(first)).toEqual([]);
      expect(await scene.attempts(second)).toHaveLength(1);
      const message = { applicationId: scene.applicationId, id: messageId };
      expect(await scene.store.getMessage(message)).toBeDefined();
      expect(await scene.store.purge({ items: [first, second].map(toItem) })).toEqual({ ids: [second] });
      expect(await scene.store.getMessage(message)).toBeUndefined();
    });

    it('PAY-06 leaves the id of a received event: a copy that comes after it is a copy, and it can be restored', async () => {
      const scene = use();
      const source = await scene.source();
      const to = await scene.endpoint({ applicationId: source });
      const received = { applicationId: source, eventId: 'evt_1' };
      const id = await die(scene, to, { message: received });
      const item = await archived(scene, id);
      await scene.store.purge({ items: [{ id }] });
      const copy = { kind: 'duplicate', by: 'eventId', messageId: item.message.id };
      expect((await scene.offer({ to: [to], message: received })).result).toMatchObject(copy);
      const other = { ...item, message: { ...item.message, id: `${item.message.id}x` } };
      expect(await scene.store.restore({ now: T0, items: [other, item, item] })).toEqual([
        'conflict',
        'restored',
        'exists',
      ]);
      expect((await scene.offer({ to: [to], message: received })).result).toMatchObject(copy);
    });

    it('SUB-13 takes only what is still the dead letter that was read', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const all: string[] = [];
      for (let n = 0; n < 4; n++) all.push(await die(scene, to));
      const [same = '', delivered = '', again = '', back = ''] = all;
      const read = await Promise.all(all.map((id) => archived(scene, id)));
      await scene.store.redeliver({ now: T0 + 1, select: { ids: [delivered, again] }, from: ['dead'] });
      const claimed = (await scene.claim({ now: T0 + 1 })).deliveries;
      await scene.record(only(claimed, delivered), DELIVERED, { startedAt: T0 + 1 });
      await scene.record(only(claimed, again), REJECTED, { startedAt: T0 + 1 });
      await scene.store.purge({ items: [{ id: back }] });
      await scene.store.restore({ now: T0 + 1, items: read.slice(3) });

      const items = read.map(({ delivery: { id, updatedAt } }) => ({ id, updatedAt }));
      expect(await scene.store.purge({ items })).toEqual({ ids: [same] });
      expect(await scene.states([delivered, again, back])).toEqual(['delivered', 'dead', 'dead']);
      expect(await scene.attempts(delivered)).toHaveLength(2);
      const { updatedAt } = await scene.delivery(again);
      const mixed = [{ id: delivered }, { id: again, updatedAt }, { id: back }];
      expect(await scene.store.purge({ items: mixed })).toEqual({ ids: [again, back] });
    });

    it('never takes what is still to be sent, or went well, or was given up', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const [leased = ''] = await scene.publish({ to: [to] });
      await scene.claim();
      const [pending = ''] = await scene.publish({ to: [to] });
      const [held = ''] = await scene.publish({ to: [to], state: 'held' });
      const done = await die(scene, await scene.endpoint());
      const given = await die(scene, await scene.endpoint());
      await scene.store.redeliver({ now: T0, select: { ids: [done] }, from: ['dead'] });
      await scene.record(await scene.claimOne(done), DELIVERED);
      await scene.store.discard({ now: T0, select: { ids: [given] }, reason: 'test data' });
      const all = [leased, pending, held, done, given];
      const before = await scene.states(all);
      expect(before.slice(2)).toEqual(['held', 'delivered', 'cancelled']);
      expect(await scene.store.purge({ items: [...all, 'dlv_none'].map(toItem) })).toEqual({ ids: [] });
      expect(await scene.states(all)).toEqual(before);
    });
  });

  describe('restore', () => {
    it('SUB-13 brings back a purged dead letter as it was: bytes, headers, attempts, ids; and it can be sent again', async () => {
      const scene = use();
      const source = await scene.source();
      const to = await scene.endpoint({ applicationId: source });
      const payload = Uint8Array.of(0, 1, 0xff);
      const marks = { headers: { 'x-a': 'b' }, contentType: 'text/plain', channels: ['c'], tags: ['t'] };
      const id = await die(scene, to, {
        response: 'gone',
        exhausted: true,
        message: { applicationId: source, payload, eventId: 'evt_1', ...marks },
      });
      const before = await archived(scene, id);
      await scene.store.purge({ items: [{ id }] });
      expect(await scene.store.restore({ now: T0 + 5, items: [before] })).toEqual(['restored']);
      const after = await archived(scene, id);
      expect(after.delivery).toEqual({ ...before.delivery, updatedAt: T0 + 5 });
      expect(after.attempts).toEqual(before.attempts);
      expect({ ...after.message, payload: [...after.message.payload] }).toEqual({
        ...before.message,
        payload: [...payload],
      });
      expect((await allGroups(scene, PLENTY)).map(({ count }) => count)).toEqual([1]);
      await scene.store.redeliver({ now: T0 + 1, select: { ids: [id] }, from: ['dead'] });
      expect(ids((await scene.claim({ now: T0 + 1 })).deliveries)).toEqual([id]);
    });

    it('SUB-13 updates a dead letter as its death did, and as nothing does that happens to its endpoint', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const id = await die(scene, to, { startedAt: T0 + 1 });
      const item = await archived(scene, id);
      expect(item.delivery).toMatchObject({ deadAt: T0 + 1, updatedAt: T0 + 1 });
      const later = { now: T0 + 9, reason: '' };
      for (const status of ['paused', 'active'] as const) {
        await scene.store.setStatus({ endpointId: to, status, ...later });
        await scene.sweepAll(PLENTY, later.now);
      }
      expect(await scene.store.restore({ now: later.now, items: [item] })).toEqual(['exists']);
      await scene.store.remove({ kind: 'endpoint', id: to, now: later.now });
      await scene.sweepAll(PLENTY, later.now);
      expect(await scene.delivery(id)).toEqual(item.delivery);
      await scene.store.purge({ items: [{ id }] });
      await scene.store.restore({ now: later.now, items: [item] });
      expect(await scene.delivery(id)).toMatchObject({ deadAt: T0 + 1, updatedAt: T0 + 9 });
    });

    it('SUB-13 done twice changes nothing, nor does it touch what has gone on meanwhile', async () => {
      const scene = use();
      const id = await die(scene, await scene.endpoint());
      const item = await archived(scene, id);
      expect(await scene.store.restore({ now: T0, items: [item] })).toEqual(['exists']);
      await scene.store.redeliver({ now: T0, select: { ids: [id] }, from: ['dead'] });
      await scene.record(await scene.claimOne(id), DELIVERED);
      expect(await scene.store.restore({ now: T0, items: [item, item] })).toEqual(['exists', 'exists']);
      expect(await scene.state(id)).toBe('delivered');
      await scene.store.redeliver({ now: T0, select: { ids: [id] }, from: ['delivered'] });
      await scene.record(await scene.claimOne(id), REJECTED);
      await scene.store.purge({ items: [{ id }] });
      expect(await scene.store.restore({ now: T0, items: [item, item] })).toEqual(['restored', 'exists']);
      expect(await scene.attempts(id)).toHaveLength(1);
    });

    it('shares the message of two deliveries, whichever comes back first', async () => {
      const scene = use();
      const [one = '', two = ''] = await scene.endpoints(2);
      const { ids: both } = await scene.offer({ to: [one, two] });
      for (const delivery of (await scene.claim()).deliveries) await scene.record(delivery, REJECTED);
      const items = await Promise.all(both.map((id) => archived(scene, id)));
      await scene.store.purge({ items: both.map(toItem) });
      expect(await scene.store.restore({ now: T0, items: items.toReversed() })).toEqual(['restored', 'restored']);
      expect(sorted(ids(await scene.deliveries({ states: ['dead'] })))).toEqual(sorted(both));
    });

    it('leaves out what has no owner any more, and an event id that is taken, and nothing of them is stored', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const id = await die(scene, to, { message: { eventId: 'evt_1' } });
      const item = await archived(scene, id);
      await scene.store.purge({ items: [{ id }] });
      await scene.publish({ to: [], message: { eventId: 'evt_1' } });
      const orphan = { ...item, message: { ...item.message, applicationId: 'app_none' } };
      expect(await scene.store.restore({ now: T0, items: [item, orphan] })).toEqual(['conflict', 'missing']);
      expect(await scene.store.getDelivery({ id })).toBeUndefined();
      expect(await scene.attempts(id)).toEqual([]);
    });
  });
}
