import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import type { Store } from '../store/index.ts';
import { createTestApi, type TestApi } from './testing/test-api.ts';

const TWELVE_HOURS_MS = 12 * 60 * 60 * 1000;

describe('an idempotency key on a POST', () => {
  let api: TestApi;
  let aheadMs = 0;
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
  const create = (key: string, body: object) => api.call('POST', 'app', body, keyed(key));
  const count = async () => (await api.call('GET', 'app?limit=250')).body.data.length;

  beforeAll(async () => {
    api = await createTestApi({ clock: { ...systemClock, now: () => systemClock.now() + aheadMs } });
  });
  afterAll(() => api[Symbol.asyncDispose]());

  it('gives the first answer again, byte for byte, and creates once', async () => {
    const before = await count();
    const first = await create('again', { name: 'A' });
    const second = await create('again', { name: 'A' });
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(JSON.stringify(second.body)).toBe(JSON.stringify(first.body));
    expect(second.headers['content-type']).toBe(first.headers['content-type']);
    expect(await count()).toBe(before + 1);
  });

  it('is refused for another body, another path and another query', async () => {
    await create('reused', { name: 'A' });
    const before = await count();
    const others = [
      await create('reused', { name: 'B' }),
      await api.call('POST', 'app?get_if_exists=true', { name: 'A' }, keyed('reused')),
      await api.call('POST', 'event-type', { name: 'a', description: '' }, keyed('reused')),
    ];
    for (const other of others) {
      expect(other).toMatchObject({
        status: 409,
        body: { code: 'idempotency_key_reused', detail: expect.any(String) },
      });
    }
    expect(await count()).toBe(before);
  });

  it('lets requests that come at the same time wait for the first', async () => {
    const before = await count();
    const answers = await Promise.all(Array.from({ length: 20 }, () => create('crowd', { name: 'C' })));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect(await count()).toBe(before + 1);
    const other = await Promise.all([create('crowd-2', { name: 'D' }), create('crowd-2', { name: 'E' })]);
    expect(other.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('is free again after a failure', async () => {
    expect((await create('failed', { name: '' })).status).toBe(422);
    expect((await create('failed', { name: 'right now' })).status).toBe(201);
    await create('taken', { name: 'T', uid: 'taken' });
    expect((await create('taken-2', { name: 'T', uid: 'taken' })).status).toBe(409);
    await api.call('DELETE', 'app/taken');
    expect((await create('taken-2', { name: 'T', uid: 'taken' })).status).toBe(201);
  });

  it('belongs to its token: two callers may choose the same', async () => {
    const { token } = await api.resources.tokens.create({ name: 'other', scope: 'admin' });
    const first = await create('shared', { name: 'S' });
    const second = await api.call('POST', 'app', { name: 'S' }, { token, ...keyed('shared') });
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  it('holds for what has no commit of its own: rotating, pausing', async () => {
    await api.call('POST', 'app', { name: 'R', uid: 'rotated' });
    const { body } = await api.call('POST', 'app/rotated/endpoint', { url: 'https://example.com' });
    const path = `app/rotated/endpoint/${body.id}/secret`;
    await api.call('POST', `${path}/rotate`, undefined, keyed('rotate'));
    const { body: rotated } = await api.call('GET', path);
    expect(await api.call('POST', `${path}/rotate`, undefined, keyed('rotate'))).toMatchObject({
      status: 204,
      body: undefined,
    });
    expect((await api.call('GET', path)).body).toEqual(rotated);
    await api.call('POST', `${path}/rotate`, undefined, keyed('rotate-2'));
    expect((await api.call('GET', path)).body).not.toEqual(rotated);
  });

  /** Another node, or this one after a restart. */
  const anotherNode = (store: Partial<Store> = {}) =>
    createTestApi({ store: { ...api.context.store, close: async () => {}, ...store } });
  const asHere = (key: string) => ({ token: api.token, ...keyed(key) });

  /** A node whose changes wait; `began` when the first does. */
  async function stuckNode(until: Promise<void>): Promise<{ node: TestApi; began: Promise<void> }> {
    let begin = () => {};
    const began = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const update: Store['update'] = async (input) => {
      begin();
      await until;
      return api.context.store.update(input);
    };
    return { node: await anotherNode({ update }), began };
  }

  async function rotatable(uid: string): Promise<string> {
    await api.call('POST', 'app', { name: 'R', uid });
    await api.call('POST', `app/${uid}/endpoint`, { url: 'https://example.com', uid: 'one' });
    return `app/${uid}/endpoint/one`;
  }

  it('holds on every node, for what has no commit of its own too', async () => {
    const path = await rotatable('everywhere');
    await using next = await anotherNode();
    expect((await api.call('POST', `${path}/secret/rotate`, {}, keyed('r'))).status).toBe(204);
    const { body: rotated } = await api.call('GET', `${path}/secret`);
    expect((await next.call('POST', `${path}/secret/rotate`, {}, asHere('r'))).status).toBe(204);
    expect((await api.call('GET', `${path}/secret`)).body).toEqual(rotated);

    const paused = await api.call('POST', `${path}/pause`, { reason: 'x' }, keyed('p'));
    await api.call('POST', `${path}/resume`);
    expect((await next.call('POST', `${path}/pause`, { reason: 'x' }, asHere('p'))).body).toEqual(paused.body);
    expect((await api.call('GET', path)).body).toMatchObject({ status: 'active' });
    const reused = await next.call('POST', `${path}/pause`, { reason: 'y' }, asHere('p'));
    expect(reused).toMatchObject({ status: 409, body: { code: 'idempotency_key_reused' } });
  });

  it('is refused by another node while the first is at work, and answered when that is done', async () => {
    const path = `${await rotatable('at-work')}/secret/rotate`;
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { node: slow, began } = await stuckNode(held);
    const first = slow.call('POST', path, {}, asHere('slow'));
    await began;
    const second = await api.call('POST', path, {}, keyed('slow'));
    expect(second).toMatchObject({ status: 409, body: { code: 'conflict', detail: expect.stringContaining('again') } });
    goOn();
    expect((await first).status).toBe(204);
    expect((await api.call('POST', path, {}, keyed('slow'))).status).toBe(204);
  });

  it('is free again on every node after a failure, and a minute after a node was cut off', async () => {
    const path = `${await rotatable('cut-off')}/secret/rotate`;
    await using next = await anotherNode();
    expect((await api.call('POST', path, { gracePeriodSeconds: -1 }, keyed('wrong'))).status).toBe(422);
    expect((await next.call('POST', path, {}, asHere('wrong'))).status).toBe(204);
    const { node: dying, began } = await stuckNode(new Promise(() => {}));
    void dying.call('POST', path, {}, asHere('cut'));
    await began;
    expect((await api.call('POST', path, {}, keyed('cut'))).status).toBe(409);
    aheadMs = 61_000;
    expect((await api.call('POST', path, {}, keyed('cut'))).status).toBe(204);
    aheadMs = 0;
  });

  it('does not put a new token into the store: a repeat makes none and is told why it gets none', async () => {
    const written: unknown[] = [];
    const { store } = api.context;
    await using node = await anotherNode({
      keepAnswer(input) {
        written.push(input);
        return store.keepAnswer(input);
      },
    });
    const make = () => node.call('POST', 'token', { name: 'secret', scope: 'admin' }, asHere('token'));
    const first = await make();
    expect(first.status).toBe(201);
    expect(written).toHaveLength(2);
    expect(JSON.stringify(written)).not.toContain(first.body.token);
    const count = (await api.call('GET', 'token?limit=250')).body.data.length;
    expect(await make()).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: expect.stringContaining('done before') },
    });
    expect((await api.call('GET', 'token?limit=250')).body.data).toHaveLength(count);
  });

  it('survives a restart of the server: the answer is in the store, with what it answers', async () => {
    const first = await create('durable', { name: 'D' });
    await using next = await createTestApi({ store: { ...api.context.store, close: async () => {} } });
    const again = await next.call('POST', 'app', { name: 'D' }, { token: api.token, ...keyed('durable') });
    expect(again).toMatchObject({ status: 201, body: first.body });
  });

  it('is forgotten after twelve hours', async () => {
    const first = await create('old', { name: 'O' });
    aheadMs = TWELVE_HOURS_MS - 5000;
    expect((await create('old', { name: 'O' })).body.id).toBe(first.body.id);
    aheadMs = TWELVE_HOURS_MS + 5000;
    expect((await create('old', { name: 'O' })).body.id).not.toBe(first.body.id);
    aheadMs = 0;
  });
});
