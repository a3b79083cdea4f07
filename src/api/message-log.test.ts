/** Looking at messages and following them, over real connections. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { floorId } from '../ids.ts';
import { createInboundRig, type InboundRig } from '../inbound/testing/inbound-rig.ts';
import { createServer } from './server.ts';

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  readonly body: any;
}

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function serve() {
  const rig: InboundRig = await createInboundRig();
  open.push(async () => rig[Symbol.asyncDispose]());
  const { resources, clock, receiver } = rig;
  const server: FastifyInstance = createServer({ resources, store: rig.store, clock, receiver, logger: false });
  open.push(async () => void (await server.close()));
  await server.listen({ host: '127.0.0.1', port: 0 });
  const base = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  const { token } = await resources.tokens.create({ name: 'looks only', scope: 'read-only' });
  const get = async (path: string, as = token, signal?: AbortSignal): Promise<Answer> => {
    const headers = { authorization: `Bearer ${as}` };
    const answer = await fetch(`${base}/api/v1/${path}`, { headers, ...(signal && { signal }) });
    return { status: answer.status, body: await answer.json() };
  };
  const send = async (body: string | Uint8Array, to = 'any') => {
    const headers = { 'content-type': 'text/odd', 'x-mine': 'kept' };
    const answer = await fetch(`${base}/in/${to}`, { method: 'POST', body: body as string, headers });
    return ((await answer.json()) as { id: string }).id;
  };
  await resources.sources.declare({ name: 'any', uid: 'any', provider: 'none' });
  return { rig, server, base, get, send };
}

describe('following messages', { timeout: 60_000 }, () => {
  it('begins now, and answers a waiting request as soon as an event is committed, with its exact bytes', async () => {
    const { get, send } = await serve();
    await send('{"before":1}');
    const { body: start } = await get('message/follow?source=any');
    expect(start).toEqual({ data: [], iterator: expect.stringMatching(/^msg_/) });
    const waiting = get(`message/follow?source=any&wait=20&after=${start.iterator}`);
    const id = await send(Uint8Array.of(0xff, 0x00, 0x7b));
    const { body } = await waiting;
    expect(body.data).toEqual([
      expect.objectContaining({
        id,
        contentType: 'text/odd',
        headers: expect.objectContaining({ 'x-mine': 'kept' }),
        body: Buffer.from([0xff, 0x00, 0x7b]).toString('base64'),
        bodyEncoding: 'base64',
      }),
    ]);
  });

  it('an event that is committed late, under a lower id, is not passed over', async () => {
    const { get, send, rig } = await serve();
    const place = floorId('msg', Date.now());
    const seen = await send('{"n":1}');
    const { body: first } = await get(`message/follow?source=any&after=${place}`);
    expect(first.data.map(({ id }: { id: string }) => id)).toEqual([seen]);
    expect(first.iterator).toBe(place);
    // What is known does not end a wait, and does not come again by itself.
    expect((await get(`message/follow?source=any&after=${place}&known=1`)).body.data).toEqual([]);
    const { id: applicationId } = await rig.resources.sources.get('any');
    const late = `${seen.slice(0, 14)}${'0'.repeat(17)}`;
    const stored = await rig.store.get({ kind: 'source', idOrName: applicationId });
    const { epoch } = await rig.store.join({ now: Date.now(), leaseMs: 60_000, name: 'another node' });
    const message = { id: late, applicationId, eventType: 'late', payload: Buffer.from('{}'), createdAt: Date.now() };
    const item = { message, fanoutRevision: stored?.fanoutRevision ?? 0, deliveries: [] };
    const { results } = await rig.store.accept({ epoch, now: Date.now(), items: [item] });
    expect(results).toEqual([{ kind: 'accepted' }]);
    const { body: second } = await get(`message/follow?source=any&after=${place}&known=1&wait=5`);
    expect(second.data.map(({ id }: { id: string }) => id)).toEqual([late, seen]);
  });

  it('goes through a backlog page by page, in order and without a gap', async () => {
    const { get, send } = await serve();
    const place = floorId('msg', Date.now());
    const sent: string[] = [];
    for (let n = 0; n < 30; n++) sent.push(await send(JSON.stringify({ n })));
    const got = new Set<string>();
    let after = place;
    while (got.size < sent.length) {
      const { body } = await get(`message/follow?source=any&after=${after}`);
      expect(body.data.length).toBeGreaterThan(0);
      for (const { id } of body.data) got.add(id);
      after = body.iterator;
    }
    expect([...got]).toEqual(sent);
  });
});

describe('the message log', { timeout: 60_000 }, () => {
  it('ALL-05 lists and shows messages of a source with headers and bytes; of an application too', async () => {
    const { get, send, rig } = await serve();
    await rig.resources.applications.create({ name: 'Acme', uid: 'acme' });
    const published = await rig.resources.messages.publish({
      application: 'acme',
      eventType: 'a.b',
      payload: { n: 1 },
    });
    const id = await send('not JSON');
    const { body } = await get('message?source=any');
    expect(body.data).toEqual([expect.objectContaining({ id, bytes: 8, eventType: 'webhook' })]);
    expect((await get('message?application=acme')).body.data).toMatchObject([{ id: published.id }]);
    expect((await get(`message/${id}?source=any`)).body).toMatchObject({ body: 'not JSON', deliveries: [] });
    expect((await get(`message/${id}`)).body.detail).toContain('name its source or application');
    expect((await get('message')).body.detail[0].msg).toContain('say whose messages');
    expect((await get('message?source=any&sorce=x')).status).toBe(422);
  });

  it('a token of one application does not follow, and a bad place is refused', async () => {
    const { get, rig } = await serve();
    const { record } = await rig.resources.applications.create({ name: 'Acme', uid: 'acme' });
    const theirs = { name: 'theirs', scope: 'application', applicationId: record.id } as const;
    const { token } = await rig.resources.tokens.create(theirs);
    expect((await get('message/follow?source=any', token)).status).toBe(403);
    expect((await get('message/follow?source=any&after=nowhere')).status).toBe(422);
    expect((await get('message/follow?source=none&wait=5&after=msg_0000000000')).status).toBe(404);
  });

  it('whoever goes is not waited for: more than the limit can follow after each other', async () => {
    const { get } = await serve();
    const { iterator } = (await get('message/follow?source=any')).body;
    const path = `message/follow?source=any&wait=25&after=${iterator}`;
    const controllers = Array.from({ length: 32 }, () => new AbortController());
    const waits = controllers.map(({ signal }) => get(path, undefined, signal).catch(() => 'gone'));
    await expect
      .poll(async () => (await get(path, undefined, AbortSignal.timeout(2000)).catch(() => ({}))) ?? {})
      .toMatchObject({
        status: 400,
        body: { code: 'limit_reached' },
      });
    for (const controller of controllers) controller.abort();
    expect(await Promise.all(waits)).toEqual(controllers.map(() => 'gone'));
    await expect
      .poll(async () => (await get(`${path.replace('wait=25', 'wait=1')}`)).status, { timeout: 10_000 })
      .toBe(200);
  });

  it('does not hold up the end of the server', async () => {
    const { get, server } = await serve();
    const { iterator } = (await get('message/follow?source=any')).body;
    const asked = once(server.server, 'request');
    const waiting = get(`message/follow?source=any&wait=25&after=${iterator}`);
    await asked;
    const askedAt = performance.now();
    await server.close();
    expect(performance.now() - askedAt).toBeLessThan(5000);
    expect((await waiting).body.data).toEqual([]);
  });
});

describe('looking at messages', { timeout: 60_000 }, () => {
  it('PAY-06 says how often the id of an event came again with another body, in lists and of one', async () => {
    const { get, send, rig } = await serve();
    const settings = { eventIdPath: 'id' };
    await rig.resources.sources.declare({ name: 'ids', uid: 'ids', provider: 'none', settings });
    const id = await send('{"id":"evt_1","n":1}', 'ids');
    for (const body of ['{"id":"evt_1","n":1}', '{"id":"evt_1","n":2}', '{"id":"evt_1","n":3}'])
      await send(body, 'ids');
    await send('{"id":"evt_2"}', 'ids');
    const { body } = await get('message?source=ids');
    expect(body.data).toMatchObject([
      { eventId: 'evt_2', conflicts: 0 },
      { id, eventId: 'evt_1', conflicts: 2 },
    ]);
    expect((await get(`message/${id}?source=ids`)).body).toMatchObject({ conflicts: 2, body: '{"id":"evt_1","n":1}' });
  });
});
