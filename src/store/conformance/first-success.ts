import { describe, expect, it } from 'vitest';
import { createIds, twinId } from '../../ids.ts';
import type { Message } from '../../model/index.ts';
import type { ClaimedDelivery, RecordItem } from '../store.ts';
import type { Use } from './harness.ts';
import { exercisePaging } from './paging.ts';
import {
  type AttemptInput,
  DELIVERED,
  ids,
  LEASE_MS,
  only,
  PLENTY,
  REJECTED,
  retryIn,
  type Scene,
  sorted,
  T0,
} from './scene.ts';

const DAY_MS = 86_400_000;
const ALL = { limit: PLENTY, order: 'ascending' } as const;

/** What is handed over as it is accepted and well at the first try, in the midst of what is not. */
export function exerciseFirstSuccess(use: Use): void {
  describe('a first success', () => {
    it('ALL-05 is read as it was recorded: by its id, in lists, and its delivery beside it', async () => {
      const scene = use();
      const { item, claimed } = await handedOver(scene, { startedAt: T0 + 3, durationMs: 21, status: 204 });
      expect((await record(scene, [{ ...item, maxAttempts: 6 }])).results).toEqual(['recorded']);
      const { messageId, id } = claimed;
      expect(await scene.store.getAttempt({ messageId, id: item.attempt.id })).toEqual(item.attempt);
      expect(await scene.store.getAttempt({ messageId: 'msg_none', id: item.attempt.id })).toBeUndefined();
      // By no other name that ends like its own.
      expect(await scene.store.getAttempt({ messageId, id })).toBeUndefined();
      expect(await scene.attempts(id)).toEqual([item.attempt]);
      const delivery = await scene.delivery(id);
      expect(delivery).toMatchObject({ state: 'delivered', attempts: 1, scheduleAttempts: 1, maxAttempts: 6 });
      expect(delivery).toMatchObject({ firstAttemptAt: T0 + 3, reason: DELIVERED.reason, trigger: 'scheduled' });
      expect(delivery.dueAt).toBeUndefined();
    });

    it.each([
      { name: 'a long answer', response: 'é€😀'.repeat(400) },
      { name: 'a cut answer', response: 'so far', responseTruncated: true },
      { name: 'no answer', response: '' },
      { name: 'a long URL', url: `https://customer.example/${'a'.repeat(2000)}` },
    ])('keeps $name whole', async ({ name: _, ...over }) => {
      const scene = use();
      const made = [await handedOver(scene), await handedOver(scene), await handedOver(scene)];
      const items = made.map(({ item }, n) => (n === 1 ? { ...item, attempt: { ...item.attempt, ...over } } : item));
      expect((await record(scene, items)).results).toEqual(['recorded', 'recorded', 'recorded']);
      for (const { attempt } of items) expect(await scene.attempts(attempt.deliveryId)).toEqual([attempt]);
    });

    it('ALL-05 is one of a batch with others: each has its own answer, and a lost lease among them stops none', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const handed: Awaited<ReturnType<typeof handedOver>>[] = [];
      for (let n = 0; n < 4; n++) handed.push(await handedOver(scene, { startedAt: T0 + n, durationMs: n }, to));
      await scene.publishMany(4, { to: [to] });
      const waited = (await scene.claim()).deliveries;
      const [one, two, three, four] = waited;
      const [first, lost, ...rest] = handed.map(({ item }) => item);
      if (!one || !two || !three || !four || !first || !lost) throw new Error('eight were published');
      await scene.store.release({ epoch: scene.epoch, now: T0, ids: [lost.attempt.deliveryId] });
      const items = [
        first,
        scene.recordItem(one, DELIVERED),
        // An id like a first success's, of one that has waited.
        withId(scene.recordItem(two, DELIVERED), twinId('atmpt', two.id)),
        lost,
        scene.recordItem(three, retryIn(1000)),
        ...rest,
        scene.recordItem(four, REJECTED),
      ];
      const { results } = await record(scene, items);
      expect(results).toEqual(items.map((item) => (item === lost ? 'lease_lost' : 'recorded')));
      for (const item of items) {
        expect(await scene.attempts(item.attempt.deliveryId)).toEqual(item === lost ? [] : [item.attempt]);
      }
      const page = await scene.store.listAttempts({ destinationId: to, ...ALL });
      expect(ids(page.items)).toEqual(sorted(ids(items.filter((item) => item !== lost).map(({ attempt }) => attempt))));
    });

    it('BUD-07 is not written by a node that lost its lease, though the heir has an attempt of the same id', async () => {
      const scene = use();
      const { item, claimed } = await handedOver(scene);
      const heir = await scene.join(T0 + LEASE_MS);
      const taken = only(await scene.takeOver(heir, T0 + LEASE_MS), claimed.id);
      expect((await record(scene, [item])).results).toEqual(['lease_lost']);
      const theirs = withId(scene.recordItem(taken, DELIVERED, { startedAt: T0 + LEASE_MS }), item.attempt.id);
      expect((await record(scene, [theirs], heir)).results).toEqual(['recorded']);
      expect((await record(scene, [item])).results).toEqual(['lease_lost']);
      expect(await scene.attempts(claimed.id)).toEqual([theirs.attempt]);
    });

    it('is found by every filter that it matches, and by no other', async () => {
      const scene = use();
      const [one = '', two = ''] = await scene.endpoints(2);
      const early = await handedOver(scene, { status: 200 }, one, { eventType: 'a' });
      const late = await handedOver(scene, { status: 299, startedAt: T0 + 50 }, two, { eventType: 'b' });
      const items = [early.item, late.item];
      await record(scene, items);
      const [failed = ''] = await scene.publish({ to: [one], message: { eventType: 'a' } });
      await scene.record(await scene.claimOne(failed), REJECTED, { startedAt: T0 + 20 });
      const [first = '', second = ''] = items.map(({ attempt }) => attempt.id);
      const [refused = ''] = ids(await scene.attempts(failed));
      const list = async (filter: object) => ids((await scene.store.listAttempts({ ...filter, ...ALL })).items);
      expect(await list({})).toEqual([first, second, refused]);
      expect(await list({ applicationId: scene.applicationId })).toEqual([first, second, refused]);
      expect(await list({ applicationId: 'app_none' })).toEqual([]);
      expect(await list({ destinationId: one })).toEqual([first, refused]);
      expect(await list({ messageId: early.claimed.messageId })).toEqual([first]);
      expect(await list({ deliveryId: late.claimed.id })).toEqual([second]);
      expect(await list({ outcome: 'success' })).toEqual([first, second]);
      expect(await list({ outcome: 'failure' })).toEqual([refused]);
      expect(await list({ statusClass: 200 })).toEqual([first, second]);
      expect(await list({ statusClass: 500 })).toEqual([refused]);
      expect(await list({ error: 'timeout' })).toEqual([]);
      expect(await list({ eventTypes: ['b'] })).toEqual([second]);
      expect(await list({ eventTypes: [] })).toEqual([]);
      expect(await list({ after: T0, before: T0 + 50 })).toEqual([refused]);
    });

    it('stays as it was when its delivery is sent again, by id or by a filter, and again', async () => {
      const scene = use();
      const to = await scene.endpoint();
      const { item, claimed } = await handedOver(scene, { startedAt: T0 + 3 }, to);
      await record(scene, [item]);
      const { id } = claimed;
      const selections = [{ ids: [id] }, { filter: { destinationId: to }, limit: 10 }];
      for (const [index, select] of selections.entries()) {
        const again = await scene.store.redeliver({ now: T0 + 1000, select, from: ['delivered'] });
        expect(again).toEqual({ ids: [id], more: false });
        expect(await scene.delivery(id)).toMatchObject({ state: 'pending', trigger: 'manual', attempts: index + 1 });
        await scene.record(await scene.claimOne(id, T0 + 1000), DELIVERED, { startedAt: T0 + 1000 + index });
      }
      const attempts = await scene.attempts(id);
      expect(attempts[0]).toEqual(item.attempt);
      expect(attempts.map(({ number, trigger }) => [number, trigger])).toEqual([
        [1, 'scheduled'],
        [2, 'manual'],
        [3, 'manual'],
      ]);
    });

    it('goes with its delivery', async () => {
      const scene = use();
      await scene.store.maintain({ now: T0 });
      // Stores may drop whole weeks, and tell them by the ids.
      const message = { id: createIds(() => T0).next('msg') };
      const { item, claimed } = await handedOver(scene, {}, undefined, message);
      await record(scene, [item]);
      let after: number | undefined;
      do {
        const age = { now: T0 + 30 * DAY_MS, retentionMs: DAY_MS };
        ({ next: after } = await scene.store.maintain({ ...age, ...(after !== undefined && { after }) }));
      } while (after !== undefined);
      expect(await scene.store.getDelivery({ id: claimed.id })).toBeUndefined();
      expect(await scene.attempts(claimed.id)).toEqual([]);
      const { messageId } = claimed;
      expect(await scene.store.getAttempt({ messageId, id: item.attempt.id })).toBeUndefined();
    });

    exercisePaging('attempts of an endpoint, first successes among them', use, async (scene) => {
      const to = await scene.endpoint();
      const keys: string[] = [];
      for (let n = 0; n < 5; n++) {
        if (n === 1 || n === 2) {
          const [id = ''] = await scene.publish({ to: [to] });
          await scene.record(await scene.claimOne(id), n === 1 ? DELIVERED : REJECTED);
          keys.push(...ids(await scene.attempts(id)));
        } else {
          const { item } = await handedOver(scene, {}, to);
          await record(scene, [item]);
          keys.push(item.attempt.id);
        }
      }
      // Neither under way nor waiting: no attempt yet.
      await handedOver(scene, {}, to);
      await scene.publish({ to: [to] });
      return {
        keys,
        page: async (input) => {
          const page = await scene.store.listAttempts({ destinationId: to, ...input });
          return { keys: ids(page.items), done: page.done };
        },
      };
    });

    exercisePaging('deliveries of an endpoint, some of which have waited', use, async (scene) => {
      const to = await scene.endpoint();
      const keys: string[] = [];
      for (let n = 0; n < 5; n++) {
        if (n % 2 === 0) keys.push(...(await scene.publish({ to: [to] })));
        else keys.push((await handedOver(scene, {}, to)).claimed.id);
      }
      return {
        keys,
        page: async (input) => {
          const page = await scene.store.listDeliveries({ destinationId: to, ...input });
          return { keys: ids(page.items), done: page.done };
        },
      };
    });
  });
}

/** A delivery that is leased as it is accepted, and a success of it as the engine makes it. */
async function handedOver(
  scene: Scene,
  input: AttemptInput = {},
  destinationId?: string,
  message: Partial<Message> = {},
) {
  const { eventType = 'invoice.paid' } = message;
  const to = destinationId ?? (await scene.endpoint());
  const { messageId, ids: made } = await scene.offer({ to: [to], state: 'leased', message: { ...message, eventType } });
  const { applicationId } = scene;
  const claimed: ClaimedDelivery = {
    id: made[0] ?? '',
    messageId,
    applicationId,
    destinationId: to,
    eventType,
    trigger: 'scheduled',
    attempts: 0,
    scheduleAttempts: 0,
    firstAttemptAt: undefined,
    dueAt: T0,
    createdAt: T0,
    payload: new Uint8Array(),
  };
  return { claimed, item: withId(scene.recordItem(claimed, DELIVERED, input), twinId('atmpt', claimed.id)) };
}

function withId(item: RecordItem, id: string): RecordItem {
  return { ...item, attempt: { ...item.attempt, id } };
}

function record(scene: Scene, items: readonly RecordItem[], epoch = scene.epoch) {
  return scene.store.record({ epoch, now: T0 + 500, items });
}
