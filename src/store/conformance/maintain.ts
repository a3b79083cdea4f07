import { describe, expect, it } from 'vitest';
import { createIds } from '../../ids.ts';
import type { Use } from './harness.ts';
import { DELIVERED, REJECTED, type Scene, T0 } from './scene.ts';

const DAY_MS = 86_400_000;
/** Stores may drop whole weeks only: what is this old is gone, and what is a day old is not. */
const LONG_MS = 30 * DAY_MS;

async function publishAt(scene: Scene, now: number, to: string): Promise<{ messageId: string; id: string }> {
  const messageId = createIds(() => now).next('msg');
  const [id = ''] = await scene.publish({ to: [to], now, message: { id: messageId, createdAt: now } });
  return { messageId, id };
}

async function maintain(scene: Scene, now: number, retentionMs?: number, eventIdsForMs?: number): Promise<void> {
  let after: number | undefined;
  do {
    const keep = {
      ...(retentionMs !== undefined && { retentionMs }),
      ...(eventIdsForMs !== undefined && { eventIdsForMs }),
    };
    ({ next: after } = await scene.store.maintain({ now, ...keep, ...(after !== undefined && { after }) }));
  } while (after !== undefined);
}

async function left(scene: Scene, published: { messageId: string; id: string }): Promise<boolean> {
  return (await scene.store.getDelivery({ id: published.id })) !== undefined;
}

export function exerciseMaintain(use: Use): void {
  describe('maintain', () => {
    it('finished messages older than the retention go, with their deliveries and attempts; younger ones stay', async () => {
      const scene = use();
      const to = await scene.endpoint();
      await maintain(scene, T0);
      await maintain(scene, T0 + LONG_MS);
      const old = await publishAt(scene, T0, to);
      await scene.record(await scene.claimOne(old.id), DELIVERED);
      const young = await publishAt(scene, T0 + LONG_MS, to);
      await scene.record(await scene.claimOne(young.id, T0 + LONG_MS), DELIVERED);
      await maintain(scene, T0 + LONG_MS, DAY_MS);
      expect([await left(scene, old), await left(scene, young)]).toEqual([false, true]);
      expect(await scene.attempts(old.id)).toEqual([]);
      const { items } = await scene.store.listMessages({
        applicationId: scene.applicationId,
        limit: 10,
        order: 'ascending',
      });
      expect(items.map(({ id }) => id)).toEqual([young.messageId]);
    });

    it('ALL-01 what is open, held or dead is never too old', async () => {
      const scene = use();
      await maintain(scene, T0);
      const dead = await publishAt(scene, T0, await scene.endpoint());
      await scene.record(await scene.claimOne(dead.id), REJECTED);
      const waiting = await publishAt(scene, T0, await scene.endpoint());
      await maintain(scene, T0 + LONG_MS, DAY_MS);
      expect([await left(scene, dead), await left(scene, waiting)]).toEqual([true, true]);
    });

    it('PAY-06 the id of a received event outlives its message, so that a late copy is still a copy; then it goes', async () => {
      const scene = use();
      await maintain(scene, T0);
      await maintain(scene, T0 + LONG_MS);
      const source = await scene.source();
      const offer = (applicationId: string, now: number) => {
        const id = createIds(() => now).next('msg');
        return scene.offer({ to: [], now, message: { id, createdAt: now, applicationId, eventId: 'evt_1' } });
      };
      const first = await offer(source, T0);
      await offer(scene.applicationId, T0);
      await maintain(scene, T0 + LONG_MS, DAY_MS, 2 * LONG_MS);
      expect(await scene.store.getMessage({ applicationId: source, id: first.messageId })).toBeUndefined();
      expect((await offer(source, T0 + LONG_MS)).result).toEqual({
        kind: 'duplicate',
        by: 'eventId',
        messageId: first.messageId,
        samePayload: false,
      });
      expect((await offer(scene.applicationId, T0 + LONG_MS)).result).toEqual({ kind: 'accepted' });
      await maintain(scene, T0 + 2 * LONG_MS - DAY_MS, DAY_MS, 2 * LONG_MS);
      expect((await offer(source, T0 + LONG_MS)).result).toMatchObject({ kind: 'duplicate' });
      await maintain(scene, T0 + 3 * LONG_MS, DAY_MS, 2 * LONG_MS);
      expect((await offer(source, T0 + LONG_MS)).result).toEqual({ kind: 'accepted' });
    });

    it('without a retention nothing goes', async () => {
      const scene = use();
      await maintain(scene, T0);
      const old = await publishAt(scene, T0, await scene.endpoint());
      await scene.record(await scene.claimOne(old.id), DELIVERED);
      await maintain(scene, T0 + 100 * LONG_MS);
      expect(await left(scene, old)).toBe(true);
    });
  });
}
