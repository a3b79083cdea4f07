import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
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

  it('does not put a new token into the store, not even as a remembered answer', async () => {
    const make = () => api.call('POST', 'token', { name: 'secret', scope: 'admin' }, keyed('token'));
    const first = await make();
    expect((await make()).body).toEqual(first.body);
    const key = first.body.token as string;
    const remembered = await Promise.all(
      ['token', key].map((each) => api.context.store.recall({ key: each, now: systemClock.now() })),
    );
    expect(remembered).toEqual([undefined, undefined]);
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
