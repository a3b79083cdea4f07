import { describe, expect, it } from 'vitest';
import type { Use } from './harness.ts';
import { exercisePaging } from './paging.ts';
import { DELIVERED, ids, PLENTY, REJECTED, retryIn, T0 } from './scene.ts';

const ALL = { limit: PLENTY, order: 'ascending' } as const;

export function exerciseReads(use: Use): void {
  describe('getMessage', () => {
    it('finds a message by id or by event id, in its own application only', async () => {
      const scene = use();
      const other = await scene.application();
      const { messageId } = await scene.offer({ to: [], message: { eventId: 'evt-1' } });
      const find = async (applicationId: string, id: string) =>
        (await scene.store.getMessage({ applicationId, id }))?.id;
      expect(await find(scene.applicationId, messageId)).toBe(messageId);
      expect(await find(scene.applicationId, 'evt-1')).toBe(messageId);
      expect(await find(other, messageId)).toBeUndefined();
      expect(await find(other, 'evt-1')).toBeUndefined();
    });
  });

  describe('listMessages', () => {
    it('filters by event type, channel, tag and time', async () => {
      const scene = use();
      const { applicationId } = scene;
      const publish = async (createdAt: number, message: object) =>
        (await scene.offer({ to: [], message: { createdAt, ...message } })).messageId;
      const a = await publish(T0, { eventType: 'a', channels: ['eu', 'us'] });
      const b = await publish(T0 + 10, { eventType: 'b', tags: ['vip'] });
      const c = await publish(T0 + 20, { eventType: 'c', channels: ['eu'] });
      const list = async (filter: object) =>
        ids((await scene.store.listMessages({ applicationId, ...filter, ...ALL })).items);
      expect(await list({})).toEqual([a, b, c]);
      expect(await list({ eventTypes: ['a', 'b'] })).toEqual([a, b]);
      expect(await list({ eventTypes: [] })).toEqual([]);
      expect(await list({ channel: 'eu' })).toEqual([a, c]);
      expect(await list({ channel: 'e' })).toEqual([]);
      expect(await list({ tag: 'vip' })).toEqual([b]);
      expect(await list({ after: T0, before: T0 + 20 })).toEqual([b]);
      expect(await list({ applicationId: 'app_none' })).toEqual([]);
    });

    exercisePaging('messages', use, async (scene) => {
      const keys: string[] = [];
      for (let i = 0; i < 5; i++) keys.push((await scene.offer({ to: [] })).messageId);
      return {
        keys,
        page: async (input) => {
          const page = await scene.store.listMessages({ applicationId: scene.applicationId, ...input });
          return { keys: ids(page.items), done: page.done };
        },
      };
    });
  });

  describe('getDelivery', () => {
    it('answers nothing for what is not there', async () => {
      expect(await use().store.getDelivery({ id: 'dlv_none' })).toBeUndefined();
    });
  });

  describe('listDeliveries', () => {
    it('filters by application, destination, message, state, event type, cause and time', async () => {
      const scene = use();
      const [one = '', two = ''] = await scene.endpoints(2);
      const dead = await scene.deadLetter(one, { eventType: 'a' });
      const {
        messageId,
        ids: [first = '', second = ''],
      } = await scene.offer({ to: [one, two], now: T0 + 50, message: { eventType: 'b' } });
      const list = async (filter: object) => ids(await scene.deliveries(filter));
      expect(await list({})).toEqual([dead, first, second]);
      expect(await list({ applicationId: scene.applicationId })).toHaveLength(3);
      expect(await list({ applicationId: 'app_none' })).toEqual([]);
      expect(await list({ destinationId: one })).toEqual([dead, first]);
      expect(await list({ messageId })).toEqual([first, second]);
      expect(await list({ messageId, destinationId: two })).toEqual([second]);
      expect(await list({ states: ['dead'] })).toEqual([dead]);
      expect(await list({ states: ['dead', 'pending'] })).toHaveLength(3);
      expect(await list({ states: [] })).toEqual([]);
      expect(await list({ eventTypes: ['b'] })).toEqual([first, second]);
      expect(await list({ cause: 'rejected' })).toEqual([dead]);
      expect(await list({ cause: 'exhausted' })).toEqual([]);
      expect(await list({ after: T0 })).toEqual([first, second]);
      expect(await list({ before: T0 + 50 })).toEqual([dead]);
    });

    exercisePaging('deliveries', use, async (scene) => ({
      keys: await scene.publishMany(5, { to: [await scene.endpoint()] }),
      page: async (input) => {
        const page = await scene.store.listDeliveries(input);
        return { keys: ids(page.items), done: page.done };
      },
    }));

    exercisePaging('dead letters', use, async (scene) => {
      const to = await scene.endpoint();
      const keys: string[] = [];
      for (let i = 0; i < 5; i++) keys.push(await scene.deadLetter(to));
      await scene.publish({ to: [to] });
      return {
        keys,
        page: async (input) => {
          const page = await scene.store.listDeliveries({ states: ['dead'], ...input });
          return { keys: ids(page.items), done: page.done };
        },
      };
    });
  });

  describe('getAttempt', () => {
    it('finds an attempt under its own message only', async () => {
      const scene = use();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
      const claimed = await scene.claimOne(id);
      await scene.record(claimed, DELIVERED);
      const [attempt] = await scene.attempts(id);
      const find = (messageId: string) => scene.store.getAttempt({ messageId, id: attempt?.id ?? '' });
      expect(await find(claimed.messageId)).toEqual(attempt);
      expect(await find('msg_none')).toBeUndefined();
    });
  });

  describe('listAttempts', () => {
    it('filters by outcome, status class, error, event type, endpoint, message and time', async () => {
      const scene = use();
      const [one = '', two = ''] = await scene.endpoints(2);
      const make = async (to: string, eventType: string, decision: typeof DELIVERED, over: object) => {
        const [id = ''] = await scene.publish({ to: [to], message: { eventType } });
        await scene.record(await scene.claimOne(id), decision, over);
        return (await scene.attempts(id))[0]?.id;
      };
      const success = await make(one, 'a', DELIVERED, { status: 204 });
      const refused = await make(one, 'b', REJECTED, { status: 404, startedAt: T0 + 10 });
      const silent = await make(two, 'b', retryIn(1e6), { status: 0, error: 'timeout', startedAt: T0 + 20 });
      const list = async (filter: object) => ids((await scene.store.listAttempts({ ...filter, ...ALL })).items);
      expect(await list({ applicationId: scene.applicationId })).toEqual([success, refused, silent]);
      expect(await list({ outcome: 'success' })).toEqual([success]);
      expect(await list({ outcome: 'failure' })).toEqual([refused, silent]);
      expect(await list({ statusClass: 200 })).toEqual([success]);
      expect(await list({ statusClass: 400 })).toEqual([refused]);
      expect(await list({ statusClass: 0 })).toEqual([silent]);
      expect(await list({ error: 'timeout' })).toEqual([silent]);
      expect(await list({ eventTypes: ['b'] })).toEqual([refused, silent]);
      expect(await list({ destinationId: two })).toEqual([silent]);
      expect(await list({ after: T0, before: T0 + 20 })).toEqual([refused]);
    });

    exercisePaging('attempts of one message', use, async (scene) => {
      const {
        messageId,
        ids: [id = ''],
      } = await scene.offer({ to: [await scene.endpoint()] });
      for (let i = 0; i < 5; i++) await scene.record(await scene.claimOne(id), retryIn(0), { durationMs: 0 });
      const keys = ids(await scene.attempts(id));
      return {
        keys,
        page: async (input) => {
          const page = await scene.store.listAttempts({ messageId, ...input });
          return { keys: ids(page.items), done: page.done };
        },
      };
    });
  });
}
