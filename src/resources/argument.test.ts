import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../api/testing/test-api.ts';
import type { Resources } from './resources.ts';

describe('arguments of the wrong type', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi();
    await api.resources.applications.create({ name: 'A', uid: 'acme' });
  });
  afterAll(() => api[Symbol.asyncDispose]());

  // biome-ignore lint/suspicious/noExplicitAny: what a caller in plain JavaScript may write
  type Loose = { [K in keyof Resources]: Record<keyof Resources[K], (...given: any[]) => Promise<unknown>> };
  const wrong = { application: 'acme', url: 'https://example.com' };

  it.each<[call: string, names: string, (resources: Loose) => Promise<unknown>]>([
    ['endpoints.create({…})', 'application', ({ endpoints }) => endpoints.create(wrong)],
    ['endpoints.create(app)', 'input', ({ endpoints }) => endpoints.create('acme')],
    ['endpoints.get(app)', 'endpoint', ({ endpoints }) => endpoints.get('acme')],
    ['endpoints.update(app, {…})', 'endpoint', ({ endpoints }) => endpoints.update('acme', wrong, wrong)],
    ['endpoints.patch(app, id)', 'patch', ({ endpoints }) => endpoints.patch('acme', 'ep')],
    ['endpoints.list({…})', 'application', ({ endpoints }) => endpoints.list(wrong)],
    ['endpoints.pause(null, id)', 'application', ({ endpoints }) => endpoints.pause(null, 'ep')],
    ['applications.create()', 'input', ({ applications }) => applications.create()],
    ['applications.get({…})', 'application', ({ applications }) => applications.get({ id: 'acme' })],
    ['applications.patch(id, list)', 'patch', ({ applications }) => applications.patch('acme', [])],
    ['eventTypes.create(5)', 'input', ({ eventTypes }) => eventTypes.create(5)],
    ['eventTypes.create({})', 'body.name', ({ eventTypes }) => eventTypes.create({})],
    ['eventTypes.get(list)', 'name', ({ eventTypes }) => eventTypes.get(['a'])],
    ['policies.get({…})', 'name', ({ policies }) => policies.get({ name: 'quick' })],
    ['policies.simulate()', 'input', ({ policies }) => policies.simulate()],
    ['tokens.get({…})', 'id', ({ tokens }) => tokens.get({ id: 'x' })],
    ['tokens.delete()', 'id', ({ tokens }) => tokens.delete()],
    ['tokens.authenticate()', 'token', ({ tokens }) => tokens.authenticate()],
    ['messages.publish()', 'input', ({ messages }) => messages.publish()],
    ['messages.get(app, {…})', 'message', ({ messages }) => messages.get('acme', { id: 'x' })],
    ['deliveries.get({…})', 'id', ({ deliveries }) => deliveries.get({ id: 'x' })],
    ['deliveries.list({…})', 'endpoint', ({ deliveries }) => deliveries.list({ endpoint: { id: 'x' } })],
    ['deadLetters.retryAll()', 'selection', ({ deadLetters }) => deadLetters.retryAll()],
  ])('%s is a validation error that names %s', async (_, name, call) => {
    const promise = call(api.resources as unknown as Loose);
    await expect(promise).rejects.toMatchObject({
      name: 'PosthornError',
      code: 'validation',
      message: expect.stringMatching(new RegExp(`^${name}: must be an? (string|object)`)),
    });
  });

  it.each([
    ...['error', 'fingerprint', 'endpoint', 'message', 'application', 'source'].map((name) => ({ [name]: '' })),
    ...[{ error: ' ' }, { group: '' }, { eventTypes: [] }, { eventTypes: [''] }],
  ])('ALL-06 %j selects no dead letters, to look at or to take', async (selection) => {
    const { deadLetters } = api.resources;
    const [name = ''] = Object.keys(selection);
    const refused = { code: 'validation', message: expect.stringMatching(new RegExp(`^${name}: must (not|be|have)`)) };
    await expect(deadLetters.list(selection)).rejects.toMatchObject(refused);
    await expect(deadLetters.retryAll(selection)).rejects.toMatchObject(refused);
    await expect(deadLetters.discardAll(selection, 'x')).rejects.toMatchObject(refused);
    await expect(deadLetters.archive(selection).next()).rejects.toMatchObject(refused);
  });
});
