import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { presets } from '../policy/index.ts';
import { createTestApi, type TestApi } from './testing/test-api.ts';

describe('endpoints', () => {
  let api: TestApi;
  const url = 'https://example.com/hooks';
  const base = 'app/owner/endpoint';
  const create = async (body: object = {}) => (await api.call('POST', base, { url, ...body })).body;

  beforeAll(async () => {
    api = await createTestApi();
    await api.call('POST', 'app', { name: 'Owner', uid: 'owner' });
    await api.call('POST', 'event-type', { name: 'order.created', description: '' });
  });
  beforeEach(() => api.told.splice(0));
  afterAll(() => api[Symbol.asyncDispose]());

  it("say which policy they follow: their own, their application's, or the default", async () => {
    await api.call('POST', 'app', { name: 'P', uid: 'follows' });
    const { id, effectivePolicy } = (await api.call('POST', 'app/follows/endpoint', { url })).body;
    expect(effectivePolicy).toBe('public-api');
    await api.call('PATCH', 'app/follows', { policy: 'quick' });
    expect((await api.call('GET', 'app/follows/endpoint')).body.data[0].effectivePolicy).toBe('quick');
    const own = await api.call('PATCH', `app/follows/endpoint/${id}`, { policy: { extends: 'quick' } });
    expect(own.body.effectivePolicy).toBe('inline');
    await api.call('PATCH', `app/follows/endpoint/${id}`, { policy: 'multi-day' });
    expect((await api.call('GET', `app/follows/endpoint/${id}`)).body.effectivePolicy).toBe('multi-day');
  });

  it('show both names of renamed fields, and null for what there is none of', async () => {
    const { status, body } = await api.call('POST', base, { url: 'HTTPS://Example.COM' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^ep_[0-9A-Za-z]{27}$/),
      uid: null,
      url: 'https://example.com/',
      description: '',
      version: 1,
      disabled: false,
      status: 'active',
      statusReason: '',
      failureCount: 0,
      lastSuccessAt: null,
      lastFailureAt: null,
      rateLimit: null,
      throttleRate: null,
      maxInFlight: null,
      filterTypes: null,
      eventTypes: null,
      channels: null,
      metadata: {},
      policy: null,
      effectivePolicy: 'public-api',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const types = ['order.created'];
    expect(await create({ filterTypes: types, rateLimit: 3 })).toMatchObject({
      eventTypes: types,
      filterTypes: types,
      rateLimit: 3,
      throttleRate: 3,
    });
    expect(await create({ eventTypes: types, throttleRate: 4 })).toMatchObject({
      eventTypes: types,
      filterTypes: types,
      rateLimit: 4,
    });
    const both = await api.call('POST', base, { url, rateLimit: 1, throttleRate: 2 });
    expect(both).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'throttleRate'] }] } });
  });

  it('come back as they were sent when a client puts what it got', async () => {
    const made = await create({
      uid: 'round',
      channels: ['a'],
      metadata: { k: 'v' },
      filterTypes: ['order.created'],
      rateLimit: 9,
    });
    const { status, body } = await api.call('PUT', `${base}/round`, made);
    expect(status).toBe(200);
    expect({ ...body, updatedAt: made.updatedAt }).toEqual(made);
  });

  it('are replaced whole by PUT, but for the secret and the headers', async () => {
    const made = await create({
      uid: 'whole',
      description: 'd',
      channels: ['a'],
      rateLimit: 2,
      headers: { 'X-Mine': '1' },
      disabled: true,
    });
    const { body: secret } = await api.call('GET', `${base}/whole/secret`);
    const put = await api.call('PUT', `${base}/whole`, { url: 'https://example.com/other' });
    expect(put).toMatchObject({
      status: 200,
      body: { id: made.id, uid: null, description: '', channels: null, rateLimit: null, disabled: false },
    });
    expect((await api.call('GET', `${base}/${made.id}/secret`)).body).toEqual(secret);
    expect((await api.call('GET', `${base}/${made.id}/headers`)).body.headers).toEqual({ 'X-Mine': '1' });
    const created = await api.call('PUT', `${base}/new`, { url, uid: 'new-uid' });
    expect(created).toMatchObject({ status: 201, body: { uid: 'new-uid' } });
  });

  it('keep what a PATCH leaves out, and lose what it sets to null', async () => {
    await create({
      uid: 'patched',
      description: 'd',
      channels: ['a'],
      rateLimit: 2,
      filterTypes: ['order.created'],
      policy: 'quick',
      maxInFlight: 2,
    });
    const kept = await api.call('PATCH', `${base}/patched`, { description: 'e' });
    expect(kept.body).toMatchObject({
      description: 'e',
      channels: ['a'],
      rateLimit: 2,
      policy: 'quick',
      maxInFlight: 2,
    });
    const nulls = { channels: null, rateLimit: null, filterTypes: null, policy: null, maxInFlight: null };
    expect((await api.call('PATCH', `${base}/patched`, nulls)).body).toMatchObject({ ...nulls, eventTypes: null });
    expect((await api.call('PATCH', `${base}/patched`, { uid: null })).body.uid).toBeNull();
    for (const field of ['url', 'description', 'version', 'disabled', 'metadata']) {
      const { status, body } = await api.call('PATCH', `${base}/${kept.body.id}`, { [field]: null });
      expect([status, body.detail[0].loc]).toEqual([422, ['body', field]]);
    }
  });

  it('SPI-14 follow a policy of their own: a preset, a stored one, or one written out', async () => {
    expect(await create({ policy: 'multi-day' })).toMatchObject({ policy: 'multi-day' });
    await api.call('POST', 'policy', { name: 'mine', policy: { extends: 'quick' } });
    expect(await create({ policy: 'mine' })).toMatchObject({ policy: 'mine' });
    const schedule = { kind: 'explicit', delaysMs: [1000, 2000] };
    const inline = await create({ policy: { extends: 'public-api', schedule } });
    expect(inline.policy).toEqual({ ...presets['public-api'].policy, schedule });
  });

  it('SPI-08 a resumed endpoint is active, its failures are forgotten and the engine is told', async () => {
    const { id } = await create({ uid: 'stopped' });
    await api.context.store.setStatus({ endpointId: id, status: 'failed', reason: 'exhausted', now: 1 });
    expect((await api.call('GET', `${base}/stopped`)).body).toMatchObject({
      status: 'failed',
      statusReason: 'exhausted',
      disabled: true,
    });
    api.told.splice(0);
    const { status, body } = await api.call('POST', `${base}/stopped/resume`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, status: 'active', statusReason: '', failureCount: 0, disabled: false });
    expect(api.told).toEqual([expect.stringMatching(/^changed app_/), 'wake']);
  });

  it('are paused with a reason, and stay paused under a PUT that does not speak of it', async () => {
    await create({ uid: 'paused' });
    const paused = await api.call('POST', `${base}/paused/pause`, { reason: 'moving house' });
    expect(paused.body).toMatchObject({ status: 'paused', statusReason: 'moving house', disabled: true });
    expect((await api.call('PUT', `${base}/paused`, { url, uid: 'paused' })).body.status).toBe('paused');
    expect((await api.call('PATCH', `${base}/paused`, { disabled: true })).body.status).toBe('paused');
    expect((await api.call('PATCH', `${base}/paused`, { disabled: false })).body.status).toBe('active');
    expect((await api.call('POST', `${base}/paused/pause`)).body.statusReason).toBe('paused by a person');
  });

  it('are disabled from the start, or later, when their owner says so', async () => {
    const made = await create({ disabled: true });
    expect(made).toMatchObject({ disabled: true, status: 'disabled' });
    expect((await api.call('GET', `${base}/${made.id}`)).body).toEqual(made);
    expect((await api.call('PATCH', `${base}/${made.id}`, { disabled: false })).body.status).toBe('active');
    expect((await api.call('PATCH', `${base}/${made.id}`, { disabled: true })).body.status).toBe('disabled');
  });

  it('belong to their application: another finds none of them', async () => {
    await api.call('POST', 'app', { name: 'Other', uid: 'other' });
    const { id } = await create({ uid: 'mine' });
    for (const name of [id, 'mine']) expect((await api.call('GET', `app/other/endpoint/${name}`)).status).toBe(404);
    expect((await api.call('POST', 'app/other/endpoint', { url, uid: 'mine' })).status).toBe(201);
    expect((await api.call('POST', base, { url, uid: 'mine' })).status).toBe(409);
    expect((await api.call('DELETE', `app/other/endpoint/${id}`)).status).toBe(404);
    expect((await api.call('DELETE', `${base}/mine`)).status).toBe(204);
    expect((await api.call('GET', `${base}/${id}`)).status).toBe(404);
  });
});
