import { describe, expect, it } from 'vitest';
import type { Use } from './harness.ts';
import { ids, MINUTE_MS, PLENTY, retryIn, T0 } from './scene.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

export function exerciseReceiving(use: Use): void {
  describe('a source', () => {
    it('is kept as it was given, and found by its id and its uid', async () => {
      const scene = use();
      const record = scene.newSource({
        uid: 'stripe',
        policy: 'payments-inbound',
        dedupe: { by: 'json', path: 'a.b' },
      });
      expect(await scene.store.insert({ kind: 'source', record })).toBe('inserted');
      for (const idOrName of [record.id, 'stripe']) {
        expect(await scene.store.get({ kind: 'source', idOrName })).toEqual({
          record,
          revision: 1,
          health: undefined,
          fanoutRevision: 1,
        });
      }
      expect(await scene.store.insert({ kind: 'source', record: scene.newSource({ uid: 'stripe' }) })).toBe('conflict');
    });

    it('may have the uid that an application has', async () => {
      const scene = use();
      await scene.application({ uid: 'shop' });
      expect(await scene.store.insert({ kind: 'source', record: scene.newSource({ uid: 'shop' }) })).toBe('inserted');
    });

    it('owns endpoints: each change of one changes its fan-out', async () => {
      const scene = use();
      const sourceId = await scene.source();
      const before = await scene.fanoutRevision(sourceId);
      const id = await scene.endpoint({ applicationId: sourceId });
      expect(await scene.fanoutRevision(sourceId)).toBe(before + 1);
      await scene.store.setStatus({ endpointId: id, status: 'paused', reason: 'by hand', now: T0 });
      expect(await scene.fanoutRevision(sourceId)).toBe(before + 2);
      await scene.store.remove({ kind: 'endpoint', id, now: T0 });
      expect(await scene.fanoutRevision(sourceId)).toBe(before + 3);
    });

    it('takes no endpoint when it is not there', async () => {
      const scene = use();
      const record = scene.newEndpoint({ applicationId: 'src_none' });
      expect(await scene.store.insert({ kind: 'endpoint', record })).toBe('missing');
    });

    it('PAY-01 owns messages: they are accepted by its fan-out, delivered and listed', async () => {
      const scene = use();
      const sourceId = await scene.source();
      const to = await scene.endpoint({ applicationId: sourceId });
      const message = { applicationId: sourceId, eventId: 'evt_1' };
      expect((await scene.offer({ to: [to], message, fanoutRevision: 999 })).result).toEqual({ kind: 'stale' });
      const [id = ''] = await scene.publish({ to: [to], message });
      expect(ids((await scene.claim()).deliveries)).toEqual([id]);
      const listed = await scene.store.listMessages({ applicationId: sourceId, limit: PLENTY, order: 'ascending' });
      expect(listed.items).toMatchObject([message]);
    });

    it('goes with its endpoints and their open deliveries', async () => {
      const scene = use();
      const sourceId = await scene.source();
      const to = await scene.endpoint({ applicationId: sourceId });
      const stored = await scene.publish({ to: [to], message: { applicationId: sourceId } });
      expect(await scene.store.remove({ kind: 'source', id: sourceId, now: T0 })).toBe(true);
      await scene.sweepAll();
      expect(await scene.states(stored)).toEqual(['cancelled']);
      expect(await scene.store.get({ kind: 'endpoint', idOrName: to })).toBeUndefined();
      const gone = await scene.offer({ to: [], message: { applicationId: sourceId }, fanoutRevision: 1 });
      expect(gone.result).toEqual({ kind: 'missing' });
    });
  });

  describe('a received message', () => {
    it('keeps its headers and content type; a published one has neither', async () => {
      const scene = use();
      const applicationId = await scene.source();
      const headers = { 'x-github-event': 'push', 'user-agent': 'GitHub-Hookshot/1 "ü"' };
      const received = await scene.offer({ to: [], message: { applicationId, headers, contentType: 'text/plain' } });
      const published = await scene.offer({ to: [] });
      expect(await scene.store.getMessage({ applicationId, id: received.messageId })).toMatchObject({
        headers,
        contentType: 'text/plain',
      });
      const plain = await scene.store.getMessage({ applicationId: scene.applicationId, id: published.messageId });
      expect(Object.keys(plain ?? {})).not.toContain('headers');
      expect(Object.keys(plain ?? {})).not.toContain('contentType');
    });

    it('is handed out with its event id, headers and content type; a published one has none of them', async () => {
      const scene = use();
      const applicationId = await scene.source();
      const received = { eventId: 'evt_"ü"', headers: { 'x-note': 'a "b" \\ \u2028 ü' }, contentType: 'text/plain' };
      const own = await scene.endpoint({ applicationId });
      const [whole = ''] = await scene.publish({ to: [own], message: { applicationId, ...received } });
      const [bare = ''] = await scene.publish({ to: [own], message: { applicationId } });
      const [published = ''] = await scene.publish({ to: [await scene.endpoint()], message: { eventId: 'evt_2' } });
      const handedOut = async (way: 'claim' | 'lease') => {
        const input = { epoch: scene.epoch, now: T0, ids: [whole, bare, published] };
        const { deliveries } = way === 'claim' ? await scene.claim() : await scene.store.lease(input);
        return new Map(deliveries.map((delivery) => [delivery.id, delivery.received]));
      };
      for (const way of ['claim', 'lease'] as const) {
        const found = await handedOut(way);
        expect(found.get(whole)).toEqual(received);
        expect(found.get(bare) ?? {}).toEqual({});
        expect([found.has(published), found.get(published)]).toEqual([true, undefined]);
        await scene.store.release({ epoch: scene.epoch, now: T0, ids: [whole, bare, published] });
      }
    });

    it('PAY-06 the same id with another body keeps the first and counts the conflict; the same body counts nothing', async () => {
      const scene = use();
      const applicationId = await scene.source();
      const offer = (text: string) =>
        scene.offer({ to: [], message: { applicationId, eventId: 'evt_1', payload: bytes(text) } });
      const first = await offer('{"a":1}');
      const read = () => scene.store.getMessage({ applicationId, id: first.messageId });
      expect((await offer('{"a":1}')).result).toMatchObject({ kind: 'duplicate', samePayload: true });
      expect((await read())?.conflicts).toBeUndefined();
      for (const text of ['{"a":2}', '{"a":1} ', '']) {
        expect((await offer(text)).result).toMatchObject({ messageId: first.messageId, samePayload: false });
      }
      const kept = await read();
      expect(kept?.conflicts).toBe(3);
      expect(Buffer.from(kept?.payload ?? []).toString()).toBe('{"a":1}');
    });
  });

  describe("a handler's lane", () => {
    it('is claimed only by nodes that have the function', async () => {
      const scene = use();
      const applicationId = await scene.source();
      const to = await scene.handler(applicationId);
      const [id = ''] = await scene.publish({ to: [to], message: { applicationId } });
      for (const handlers of [undefined, [], ['hdl_other']]) {
        const passed = await scene.claim(handlers === undefined ? {} : { handlers });
        expect(passed).toMatchObject({ deliveries: [], lanes: [], moreLanes: false });
        expect(passed.nextDueAt).toBeUndefined();
      }
      const claimed = await scene.claim({ handlers: ['hdl_other', to] });
      expect(ids(claimed.deliveries)).toEqual([id]);
    });

    it('ALL-03 does not hide the lanes behind it from nodes that pass it by', async () => {
      const scene = use();
      const applicationId = await scene.source();
      const handler = await scene.handler(applicationId);
      const endpoint = await scene.endpoint({ applicationId });
      await scene.publish({ to: [handler], now: T0, message: { applicationId } });
      const [id = ''] = await scene.publish({ to: [endpoint], now: T0 + 10, message: { applicationId } });
      expect((await scene.claim({ now: T0 })).nextDueAt).toBe(T0 + 10);
      const { deliveries, moreLanes } = await scene.claim({ now: T0 + 10, discover: 1 });
      expect(ids(deliveries)).toEqual([id]);
      expect(moreLanes).toBe(false);
    });

    it('is taken over and decided on by any node', async () => {
      const scene = use();
      const applicationId = await scene.source();
      const to = await scene.handler(applicationId);
      const [id = ''] = await scene.publish({ to: [to], state: 'leased', message: { applicationId } });
      const other = await scene.join();
      expect(ids(await scene.takeOver(other, T0 + MINUTE_MS))).toEqual([id]);
    });
  });

  it('SUB-03 a delivery says how many attempts its policy allows, from its first one on', async () => {
    const scene = use();
    const [id = ''] = await scene.publish({ to: [await scene.endpoint()] });
    expect((await scene.delivery(id)).maxAttempts).toBeUndefined();
    const item = { ...scene.recordItem(await scene.claimOne(id), retryIn(1000)), maxAttempts: 4 };
    await scene.store.record({ epoch: scene.epoch, now: T0, items: [item] });
    expect((await scene.delivery(id)).maxAttempts).toBe(4);
  });
}
