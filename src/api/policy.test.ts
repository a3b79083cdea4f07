import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PRESET_NAMES, presets, simulate } from '../policy/index.ts';
import { createTestApi, type TestApi } from './testing/test-api.ts';

describe('policies', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi();
  });
  beforeEach(() => api.told.splice(0));
  afterAll(() => api[Symbol.asyncDispose]());

  it('list the presets, which can be read and not changed', async () => {
    const { body } = await api.call('GET', 'policy');
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual([...PRESET_NAMES].sort());
    expect((await api.call('GET', 'policy/quick')).body).toEqual({
      name: 'quick',
      description: presets.quick.description,
      preset: true,
      policy: presets.quick.policy,
      createdAt: null,
      updatedAt: null,
    });
    for (const [method, path] of [
      ['PUT', 'policy/quick'],
      ['DELETE', 'policy/quick'],
      ['POST', 'policy'],
    ] as const) {
      const answer = await api.call(method, path, method === 'DELETE' ? undefined : { name: 'quick', policy: {} });
      expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining('preset') } });
    }
  });

  it('are stored complete, replaced, and deleted, and the engine is told', async () => {
    const made = await api.call('POST', 'policy', {
      name: 'slow',
      description: 'd',
      policy: { extends: 'quick', retryBudget: 2 },
    });
    expect(made).toMatchObject({
      status: 201,
      body: { preset: false, policy: { ...presets.quick.policy, retryBudget: 2 } },
    });
    expect((await api.call('POST', 'policy', { name: 'slow', policy: {} })).status).toBe(409);
    const put = await api.call('PUT', 'policy/slow', { policy: { retryBudget: 3 } });
    expect(put).toMatchObject({ status: 200, body: { description: '', policy: { retryBudget: 3 } } });
    expect((await api.call('PUT', 'policy/fresh', { policy: {} })).status).toBe(201);
    expect((await api.call('DELETE', 'policy/slow')).status).toBe(204);
    expect((await api.call('GET', 'policy/slow')).status).toBe(404);
    expect(api.told).toEqual(Array(4).fill('changed all'));
  });

  it('stay while an application or an endpoint follows them', async () => {
    await api.call('POST', 'policy', { name: 'used', policy: {} });
    await api.call('POST', 'app', { name: 'U', uid: 'user', policy: 'used' });
    const { body } = await api.call('POST', 'app/user/endpoint', { url: 'https://example.com', policy: 'used' });
    expect((await api.call('DELETE', 'policy/used')).body.detail).toContain('application app_');
    await api.call('PATCH', 'app/user', { policy: null });
    expect((await api.call('DELETE', 'policy/used')).body.detail).toContain(body.id);
    await api.call('PATCH', `app/user/endpoint/${body.id}`, { policy: null });
    expect((await api.call('DELETE', 'policy/used')).status).toBe(204);
  });

  it('are simulated exactly as the engine decides, by name or written out', async () => {
    const outageMs = 60_000;
    const named = await api.call('POST', 'policy/simulate', { policy: 'quick', outageMs, failure: 503 });
    expect(named).toMatchObject({ status: 200 });
    expect(named.body).toEqual(JSON.parse(JSON.stringify(simulate(presets.quick.policy, { outageMs, failure: 503 }))));
    const inline = await api.call('POST', 'policy/simulate', { policy: { extends: 'quick' }, outageMs, failure: 503 });
    expect(inline.body).toEqual(named.body);
    const refused = await api.call('POST', 'policy/simulate', { policy: 'quik', outageMs });
    expect(refused).toMatchObject({ status: 404, body: { detail: expect.stringContaining('did you mean "quick"') } });
  });
});
