import { describe, expect, it } from 'vitest';
import type { Use } from './harness.ts';
import { MINUTE_MS, remembered, sorted, T0 } from './scene.ts';

export function exerciseRemembered(use: Use): void {
  describe('recall', () => {
    it('answers what was given under the key until it expires', async () => {
      const scene = use();
      const answer = remembered({ expiresAt: T0 + 100, body: 'ünïcödé \u0001' });
      await scene.publish({ to: [], remember: answer });
      expect(await scene.store.recall({ key: answer.key, now: T0 + 99 })).toEqual(answer);
      expect(await scene.store.recall({ key: answer.key, now: T0 + 100 })).toBeUndefined();
      expect(await scene.store.recall({ key: 'another', now: T0 })).toBeUndefined();
    });

    it('an answer is written with what it answers: a record too', async () => {
      const scene = use();
      const record = scene.newEndpoint();
      await scene.store.insert({ kind: 'endpoint', record, remember: remembered() });
      expect(await scene.store.recall({ key: 'key-1', now: T0 })).toEqual(remembered());
    });

    it('a record under a key that was used already is a duplicate, also when both come at once: it is made once', async () => {
      const scene = use();
      const insert = () =>
        scene.store.insert({ kind: 'endpoint', record: scene.newEndpoint(), remember: remembered() });
      expect(sorted(await Promise.all([insert(), insert(), insert()]))).toEqual(['duplicate', 'duplicate', 'inserted']);
      const page = await scene.store.list({ kind: 'endpoint', limit: 10, order: 'ascending' });
      expect(page.items).toHaveLength(1);
    });

    it('nothing is remembered for what was not written', async () => {
      const scene = use();
      const to = await scene.endpoint();
      await expect(scene.publish({ to: [to, to], remember: remembered() })).rejects.toThrow();
      const record = scene.newEndpoint({ id: to });
      expect(await scene.store.insert({ kind: 'endpoint', record, remember: remembered() })).toBe('conflict');
      expect(await scene.store.recall({ key: 'key-1', now: T0 })).toBeUndefined();
    });
  });

  describe('keepAnswer', () => {
    it('keeps the first answer of those that come at once, and tells it to the others', async () => {
      const scene = use();
      const keep = (body: string) => scene.store.keepAnswer({ answer: remembered({ body }), now: T0 });
      const told = await Promise.all([keep('a'), keep('b'), keep('c')]);
      const kept = await scene.store.recall({ key: 'key-1', now: T0 });
      expect(told.filter((each) => each === undefined)).toHaveLength(1);
      expect(told.filter((each) => each !== undefined)).toEqual([kept, kept]);
    });

    it('replaces an answer when it is asked to, and one that has expired', async () => {
      const scene = use();
      const [first, second] = [remembered({ body: 'first' }), remembered({ body: 'second', expiresAt: T0 + 10 })];
      await scene.store.keepAnswer({ answer: first, now: T0 });
      expect(await scene.store.keepAnswer({ answer: second, now: T0, replaces: true })).toEqual(first);
      expect(await scene.store.recall({ key: 'key-1', now: T0 })).toEqual(second);
      expect(await scene.store.keepAnswer({ answer: first, now: T0 + 10 })).toBeUndefined();
      expect(await scene.store.recall({ key: 'key-1', now: T0 + 10 })).toEqual(first);
    });
  });

  describe('forget', () => {
    it('forgets what has expired, a bounded number at a time, and nothing else', async () => {
      const scene = use();
      for (let i = 0; i < 5; i++) {
        await scene.publish({ to: [], remember: remembered({ key: `old-${i}`, expiresAt: T0 + i }) });
      }
      await scene.publish({ to: [], remember: remembered({ key: 'fresh' }) });
      const now = T0 + 10;
      const forgotten: number[] = [];
      for (let i = 0; i < 4; i++) forgotten.push((await scene.store.forget({ now, limit: 2 })).forgotten);
      expect(forgotten).toEqual([2, 2, 1, 0]);
      expect(await scene.store.recall({ key: 'fresh', now })).toBeDefined();
      expect(await scene.store.recall({ key: 'fresh', now: T0 + MINUTE_MS })).toBeUndefined();
    });
  });
}
