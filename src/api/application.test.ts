import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from './testing/test-api.ts';

describe('applications', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi();
  });
  beforeEach(() => api.told.splice(0));
  afterAll(() => api[Symbol.asyncDispose]());

  it('are created and read by id and by uid, with uid and rate limit left out when there is none', async () => {
    const { status, body } = await api.call('POST', 'app', { name: 'Plain' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^app_[0-9A-Za-z]{27}$/),
      name: 'Plain',
      metadata: {},
      policy: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updatedAt: body.createdAt,
    });
    const { body: named } = await api.call('POST', 'app', { name: 'N', uid: 'n.1', throttleRate: 5 });
    expect(named).toMatchObject({ uid: 'n.1', rateLimit: 5, throttleRate: 5 });
    expect((await api.call('GET', 'app/n.1')).body).toEqual(named);
    expect((await api.call('GET', `app/${named.id}`)).body).toEqual(named);
  });

  it('take what Svix SDKs send for nothing: null', async () => {
    const { status } = await api.call('POST', 'app', { name: 'nulls', uid: null, rateLimit: null });
    expect(status).toBe(201);
  });

  it('are one per uid, or the same one again with get_if_exists', async () => {
    const { body: first } = await api.call('POST', 'app', { name: 'One', uid: 'only' });
    const again = await api.call('POST', 'app', { name: 'Two', uid: 'only' });
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict', detail: expect.stringContaining('only') } });
    expect(await api.call('POST', 'app?get_if_exists=true', { name: 'Two', uid: 'only' })).toMatchObject({
      status: 200,
      body: first,
    });
    const created = await api.call('POST', 'app?get_if_exists=true', { name: 'New', uid: 'only-2' });
    expect(created.status).toBe(201);
  });

  it('are made once when many ask for the same uid at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api.call('POST', 'app?get_if_exists=true', { name: 'Race', uid: 'race' })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  it('are replaced whole by PUT: what is left out is gone', async () => {
    const { body } = await api.call('POST', 'app', {
      name: 'P',
      uid: 'put',
      rateLimit: 3,
      metadata: { a: 'b' },
      policy: 'quick',
    });
    const put = await api.call('PUT', 'app/put', { name: 'P2' });
    expect(put.status).toBe(200);
    expect(put.body).toEqual({
      id: body.id,
      name: 'P2',
      metadata: {},
      policy: null,
      createdAt: body.createdAt,
      updatedAt: expect.any(String),
    });
    expect((await api.call('GET', 'app/put')).status).toBe(404);
  });

  it('are created by PUT under a new id and the uid of the body', async () => {
    const put = await api.call('PUT', 'app/nobody', { name: 'Up', uid: 'from-body' });
    expect(put).toMatchObject({ status: 201, body: { uid: 'from-body' } });
    expect((await api.call('GET', 'app/nobody')).status).toBe(404);
  });

  it('keep what a PATCH leaves out, and lose what it sets to null', async () => {
    await api.call('POST', 'app', { name: 'P', uid: 'patch', rateLimit: 3, metadata: { a: 'b' }, policy: 'quick' });
    const kept = await api.call('PATCH', 'app/patch', { name: 'P2' });
    expect(kept.body).toMatchObject({ name: 'P2', uid: 'patch', rateLimit: 3, metadata: { a: 'b' }, policy: 'quick' });
    const cleared = await api.call('PATCH', 'app/patch', { rateLimit: null, policy: null, metadata: {} });
    expect(cleared.body).toMatchObject({ name: 'P2', uid: 'patch', metadata: {}, policy: null });
    expect(cleared.body).not.toHaveProperty('rateLimit');
    for (const field of ['name', 'metadata']) {
      const { status, body } = await api.call('PATCH', 'app/patch', { [field]: null });
      expect([status, body.detail[0].loc]).toEqual([422, ['body', field]]);
    }
  });

  it('take each of two patches at the same time', async () => {
    await api.call('POST', 'app', { name: 'P', uid: 'both' });
    await Promise.all([
      api.call('PATCH', 'app/both', { rateLimit: 7 }),
      api.call('PATCH', 'app/both', { metadata: { k: 'v' } }),
      api.call('PATCH', 'app/both', { policy: 'quick' }),
    ]);
    expect((await api.call('GET', 'app/both')).body).toMatchObject({
      rateLimit: 7,
      metadata: { k: 'v' },
      policy: 'quick',
    });
  });

  it('free their uid when they are deleted', async () => {
    await api.call('POST', 'app', { name: 'D', uid: 'gone' });
    expect(await api.call('DELETE', 'app/gone')).toMatchObject({ status: 204, body: undefined });
    expect((await api.call('DELETE', 'app/gone')).status).toBe(404);
    expect((await api.call('POST', 'app', { name: 'D', uid: 'gone' })).status).toBe(201);
  });

  it('tell the engine about every change', async () => {
    const { body } = await api.call('POST', 'app', { name: 'T', uid: 'told' });
    await api.call('PATCH', 'app/told', { name: 'T2' });
    await api.call('DELETE', 'app/told');
    expect(api.told).toEqual([`changed ${body.id}`, `changed ${body.id}`, `changed ${body.id}`, 'wake']);
  });
});
