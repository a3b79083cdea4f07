import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from '../api/testing/test-api.ts';
import type { Resources } from './resources.ts';
import { strictResources } from './strict-resources.ts';

describe('ALL-06 a query that is not understood', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi();
    await api.resources.applications.create({ name: 'A', uid: 'acme' });
  });
  afterAll(() => api[Symbol.asyncDispose]());

  // biome-ignore lint/suspicious/noExplicitAny: what a caller in plain JavaScript may write
  type Loose = { [K in keyof Resources]: Record<keyof Resources[K], (...given: any[]) => Promise<unknown>> };
  const page = 'is not a field of this query; did you mean limit?';

  it.each<[said: string, (resources: Loose) => Promise<unknown>]>([
    [
      'eventType: is not a field of this query; did you mean eventTypes?',
      ({ deadLetters }) => deadLetters.list({ eventType: 'x' }),
    ],
    [
      'nonsense: is not a field of this query; there are limit, ',
      ({ deadLetters }) => deadLetters.list({ nonsense: 1 }),
    ],
    ['ids: is not a field of this query', ({ deadLetters }) => deadLetters.list({ ids: ['dlv_1'] })],
    [
      'sorce: is not a field of this query; did you mean source?',
      ({ deadLetters }) => deadLetters.groups({ sorce: 'x' }),
    ],
    [
      'since: is not a field of this query; there are application, source, diedAfter, diedBefore',
      ({ deadLetters }) => deadLetters.report({ since: '7d' }),
    ],
    [
      'limt: is not an option; did you mean limit?',
      ({ deadLetters }) => deadLetters.retryPart({ all: true }, { limt: 1 }),
    ],
    [
      'state: is not a field of this query; did you mean states?',
      ({ deliveries }) => deliveries.list({ state: 'dead' }),
    ],
    [`limt: ${page}`, ({ applications }) => applications.list({ limt: 1 })],
    [`limt: ${page}`, ({ endpoints }) => endpoints.list('acme', { limt: 1 })],
    [`limt: ${page}`, ({ messages }) => messages.list('acme', { limt: 1 })],
    [
      'eventTypes: must be a list of strings, not a string',
      ({ deadLetters }) => deadLetters.list({ eventTypes: 'order.paid' }),
    ],
    ['eventTypes: must be a list of strings', ({ messages }) => messages.list('acme', { eventTypes: [1] })],
    ['states: must be a list of strings, not a string', ({ deliveries }) => deliveries.list({ states: 'dead' })],
    ['after: must be a number, ', ({ deadLetters }) => deadLetters.list({ after: '2030-01-01' })],
    ['diedAfter: must be a number, ', ({ deadLetters }) => deadLetters.report({ diedAfter: '7d' })],
    ['diedBefore: must be a number, ', ({ deadLetters }) => deadLetters.groups({ diedBefore: new Date(0) })],
    ['cause: must be exhausted or rejected', ({ deadLetters }) => deadLetters.list({ cause: 'timeout' })],
    ['order: must be ascending or descending', ({ deadLetters }) => deadLetters.list({ order: 'asc' })],
    ['query: must be an object, not a string', ({ deadLetters }) => deadLetters.groups('acme')],
    ['query: must be an object, not a string', ({ deadLetters }) => deadLetters.report('acme')],
  ])('is refused, and does not answer everything: %s', async (said, call) => {
    const refused = call(strictResources(api.resources) as unknown as Loose);
    await expect(refused).rejects.toMatchObject({
      name: 'PosthornError',
      code: 'validation',
      message: expect.stringMatching(new RegExp(`^${said.replaceAll('?', '\\?')}`)),
    });
  });

  it('and what is understood is answered', async () => {
    const { deadLetters, deliveries, messages } = strictResources(api.resources);
    const when = { application: 'acme', diedAfter: 0, diedBefore: 1 };
    const narrow = { ...when, eventTypes: ['a.b'], cause: 'rejected', order: 'ascending', limit: 1 } as const;
    expect((await deadLetters.list(narrow)).data).toEqual([]);
    expect((await deadLetters.groups({ ...when, limit: 1 })).data).toEqual([]);
    expect(await deadLetters.report(when)).toMatchObject({ from: 0, to: 1, total: 0 });
    expect((await deliveries.list({ ...narrow, states: ['dead'] })).data).toEqual([]);
    expect((await messages.list('acme', { tag: 'x', before: 1 })).data).toEqual([]);
  });
});
