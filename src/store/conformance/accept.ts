import { describe, expect, it } from 'vitest';
import type { StoreCapabilities, Use } from './harness.ts';
import { ids, MINUTE_MS, only, remembered, sorted, T0 } from './scene.ts';

export function exerciseAccept(use: Use, capabilities: StoreCapabilities): void {
  describe('accept', () => {
    it('stores a message with one delivery for each destination', async () => {
      const scene = use();
      const to = await scene.endpoints(3);
      const { messageId, ids: stored } = await scene.offer({
        to,
        message: { eventId: 'evt-1', channels: ['eu'], tags: ['vip'] },
      });
      const message = await scene.store.getMessage({ applicationId: scene.applicationId, id: messageId });
      expect(message).toMatchObject({
        id: messageId,
        eventId: 'evt-1',
        channels: ['eu'],
        tags: ['vip'],
        createdAt: T0,
      });
      const deliveries = await scene.deliveries({ messageId });
      expect(ids(deliveries)).toEqual(stored);
      expect(deliveries.map((each) => each.destinationId)).toEqual(to);
      expect(deliveries[0]).toMatchObject({ state: 'pending', trigger: 'scheduled', attempts: 0, dueAt: T0 });
    });

    it('gives every message of a batch its own deliveries, however many each has', async () => {
      const scene = use();
      const all = await scene.endpoints(4);
      const items = await Promise.all([0, 1, 3, 0, 2, 4, 1].map((count) => scene.item({ to: all.slice(0, count) })));
      const { results } = await scene.store.accept({ epoch: scene.epoch, now: T0, items });
      expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
      for (const { message, deliveries } of items) {
        const stored = await scene.deliveries({ messageId: message.id });
        expect(sorted(ids(stored))).toEqual(sorted(ids(deliveries)));
        const destinations = new Map(stored.map(({ id, destinationId }) => [id, destinationId]));
        for (const { id, destinationId } of deliveries) expect(destinations.get(id)).toBe(destinationId);
      }
    });

    if (capabilities.durable)
      it('ALL-01 what it accepted is there after the store was closed and opened again', async () => {
        const scene = use();
        const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
        await scene.reopen();
        expect(await scene.state(id)).toBe('pending');
      });

    it('stores a message that nobody listens to', async () => {
      const scene = use();
      const { result, messageId } = await scene.offer({ to: [] });
      expect(result).toEqual({ kind: 'accepted' });
      expect(await scene.store.getMessage({ applicationId: scene.applicationId, id: messageId })).toBeDefined();
    });

    it('answers one result for each item, in order, and a refused item does not stop the others', async () => {
      const scene = use();
      const to = [await scene.endpoint()];
      await scene.publish({ to, message: { eventId: 'known' } });
      const items = [
        await scene.item({ to }),
        await scene.item({ to, message: { eventId: 'known' } }),
        await scene.item({ to, fanoutRevision: 999 }),
        await scene.item({ to, message: { applicationId: 'app_none' } }),
        await scene.item({ to }),
      ];
      const { results } = await scene.store.accept({ epoch: scene.epoch, now: T0, items });
      expect(results.map(({ kind }) => kind)).toEqual(['accepted', 'duplicate', 'stale', 'missing', 'accepted']);
      const stored = await Promise.all(
        items.map(({ message }) =>
          scene.store.getMessage({ applicationId: message.applicationId, id: message.id }).then((m) => m !== undefined),
        ),
      );
      expect(stored).toEqual([true, false, false, false, true]);
    });

    it('stores a message whole or not at all', async () => {
      const scene = use();
      const to = [await scene.endpoint()];
      const good = await scene.item({ to });
      const torn = await scene.item({ to: [...to, ...to] });
      await expect(scene.store.accept({ epoch: scene.epoch, now: T0, items: [good, torn] })).rejects.toThrow();
      expect(await scene.deliveries()).toEqual([]);
      for (const { message } of [good, torn]) {
        expect(await scene.store.getMessage({ applicationId: scene.applicationId, id: message.id })).toBeUndefined();
      }
      expect((await scene.claim()).deliveries).toEqual([]);
    });

    it('keeps deliveries unique per message and destination', async () => {
      const scene = use();
      const to = await scene.endpoint();
      await expect(scene.publish({ to: [to, to] })).rejects.toThrow();
      expect(await scene.publish({ to: [to] })).toHaveLength(1);
    });

    it('PAY-06 SUB-02 a second message with the same event id is a duplicate of the first, and writes nothing', async () => {
      const scene = use();
      const to = [await scene.endpoint()];
      const first = await scene.offer({ to, message: { eventId: 'evt-1' } });
      const second = await scene.offer({ to, message: { eventId: 'evt-1' } });
      expect(second.result).toEqual({
        kind: 'duplicate',
        by: 'eventId',
        messageId: first.messageId,
        samePayload: true,
      });
      expect(await scene.deliveries()).toHaveLength(1);
    });

    it('PAY-06 finds duplicates inside one batch and across concurrent calls', async () => {
      const scene = use();
      const to = [await scene.endpoint()];
      const items = [
        await scene.item({ to, message: { eventId: 'evt-1' } }),
        await scene.item({ to, message: { eventId: 'evt-1' } }),
      ];
      const calls = await Promise.all([0, 1, 2].map(() => scene.item({ to, message: { eventId: 'evt-2' } })));
      const batch = await scene.store.accept({ epoch: scene.epoch, now: T0, items });
      expect(batch.results.map(({ kind }) => kind)).toEqual(['accepted', 'duplicate']);
      const outputs = await Promise.all(
        calls.map((item) => scene.store.accept({ epoch: scene.epoch, now: T0, items: [item] })),
      );
      const kinds = outputs.flatMap(({ results }) => results.map(({ kind }) => kind));
      expect(sorted(kinds)).toEqual(['accepted', 'duplicate', 'duplicate']);
      expect(await scene.deliveries()).toHaveLength(2);
    });

    it('an event id is unique in its application only', async () => {
      const scene = use();
      const other = await scene.application();
      await scene.publish({ to: [], message: { eventId: 'evt-1' } });
      const { result } = await scene.offer({ to: [], message: { eventId: 'evt-1', applicationId: other } });
      expect(result.kind).toBe('accepted');
    });

    it('the same idempotency key answers what was answered first, and writes nothing', async () => {
      const scene = use();
      const to = [await scene.endpoint()];
      await scene.publish({ to, remember: remembered() });
      const again = await scene.offer({ to, remember: remembered({ fingerprint: 'f2', body: 'other' }) });
      expect(again.result).toEqual({ kind: 'duplicate', by: 'key', remembered: remembered() });
      expect(await scene.deliveries()).toHaveLength(1);
    });

    it('a key may be used again once its answer has expired', async () => {
      const scene = use();
      await scene.publish({ to: [], remember: remembered({ expiresAt: T0 + 10 }) });
      const now = T0 + 10;
      const again = await scene.offer({
        to: [],
        now,
        remember: remembered({ expiresAt: now + MINUTE_MS, body: 'new' }),
      });
      expect(again.result.kind).toBe('accepted');
      expect(await scene.store.recall({ key: 'key-1', now })).toMatchObject({ body: 'new' });
    });

    it('a refused message leaves no remembered answer', async () => {
      const scene = use();
      const { result } = await scene.offer({ to: [], fanoutRevision: 999, remember: remembered() });
      expect(result.kind).toBe('stale');
      expect(await scene.store.recall({ key: 'key-1', now: T0 })).toBeUndefined();
    });

    it('a message whose destinations were chosen by an older fan-out is stale: nothing is written', async () => {
      const scene = use();
      const fanoutRevision = await scene.fanoutRevision();
      const to = [await scene.endpoint()];
      const { result } = await scene.offer({ to, fanoutRevision });
      expect(result).toEqual({ kind: 'stale' });
      expect(await scene.deliveries()).toEqual([]);
    });

    it('a duplicate is told as such even when its fan-out is stale too', async () => {
      const scene = use();
      await scene.publish({ to: [], message: { eventId: 'evt-1' } });
      const { result } = await scene.offer({ to: [], fanoutRevision: 999, message: { eventId: 'evt-1' } });
      expect(result.kind).toBe('duplicate');
    });

    it('a message for an application that is not there is missing', async () => {
      const scene = use();
      await scene.store.remove({ kind: 'application', id: scene.applicationId, now: T0 });
      expect((await scene.offer({ to: [] })).result).toEqual({ kind: 'missing' });
    });

    it('what it hands to this node at once is leased to it: nobody claims it, and this node can record it', async () => {
      const scene = use();
      const other = await scene.join();
      const [id = ''] = await scene.publish({ to: [await scene.endpoint()], state: 'leased' });
      expect(await scene.state(id)).toBe('leased');
      expect((await scene.claim({ epoch: other })).deliveries).toEqual([]);
      const [taken] = await scene.takeOver(other, T0 + MINUTE_MS);
      expect(taken).toMatchObject({ id, attempts: 0, dueAt: T0 });
    });

    it('BUD-07 a node that lost its lease stores as pending what it wanted leased', async () => {
      const scene = use();
      await scene.store.leave({ epoch: scene.epoch });
      const item = await scene.item({ to: [await scene.endpoint()], state: 'leased' });
      const output = await scene.store.accept({ epoch: scene.epoch, now: T0, items: [item] });
      expect(output).toEqual({ fenced: true, results: [{ kind: 'accepted' }] });
      const [delivery] = await scene.deliveries();
      expect(delivery?.state).toBe('pending');
      const claimed = await scene.claim({ epoch: await scene.join() });
      expect(ids(claimed.deliveries)).toEqual([delivery?.id]);
    });

    it('SPI-09 keeps a message for a stopped endpoint as held', async () => {
      const scene = use();
      const to = await scene.endpoint();
      await scene.store.setStatus({ endpointId: to, status: 'paused', reason: 'by hand', now: T0 });
      const [id = ''] = await scene.publish({ to: [to], state: 'held' });
      expect(await scene.state(id)).toBe('held');
      expect((await scene.claim({ now: T0 + MINUTE_MS })).deliveries).toEqual([]);
    });

    it.each<[string, Uint8Array]>([
      ['no bytes at all', new Uint8Array()],
      ['bytes that are not UTF-8', Uint8Array.of(0xff, 0xfe, 0xc3, 0x28, 0x80)],
      ['NUL bytes', Uint8Array.of(0, 97, 0, 98, 0)],
      ['a megabyte', Uint8Array.from({ length: 1 << 20 }, (_, i) => (i * 31) & 0xff)],
      ['a view into a larger buffer', new Uint8Array(Uint8Array.of(9, 9, 1, 2, 3, 9).buffer, 2, 3)],
    ])('BUD-09 keeps the payload byte for byte: %s', async (_, payload) => {
      const scene = use();
      const {
        messageId,
        ids: [id = ''],
      } = await scene.offer({ to: [await scene.endpoint()], message: { payload } });
      const message = await scene.store.getMessage({ applicationId: scene.applicationId, id: messageId });
      expect(Buffer.compare(message?.payload ?? Buffer.from('none'), payload)).toBe(0);
      const claimed = only((await scene.claim()).deliveries, id);
      expect(Buffer.compare(claimed.payload, payload)).toBe(0);
    });
  });
}
