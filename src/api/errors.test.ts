import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PosthornError } from '../errors.ts';
import { createAddressGuard } from '../outbound/index.ts';
import { createTestApi, type TestApi } from './testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi({ guard: createAddressGuard({ allow: [] }), bodyLimitBytes: 10_000 });
  await api.call('POST', 'app', { name: 'Owner', uid: 'owner' });
  await api.call('POST', 'event-type', { name: 'order.created', description: '' });
});
afterAll(() => api[Symbol.asyncDispose]());

const everything = async () => {
  const lists = await Promise.all(
    (['application', 'endpoint', 'eventType', 'policy', 'token'] as const).map((kind) =>
      api.context.store.list({ kind, limit: 250, order: 'ascending' }),
    ),
  );
  return JSON.stringify(lists);
};

const url = 'https://example.com';
const ep = 'app/owner/endpoint';
const json = { 'content-type': 'application/json' };
const deep = JSON.parse(`${'{"properties":{"a":'.repeat(200)}{}${'}}'.repeat(200)}`);

/** What is sent, where the answer must point, and what it must say. */
const BAD: readonly [what: string, method: string, path: string, body: unknown, loc: string[], says: RegExp][] = [
  ['malformed JSON', 'POST', 'app', '{"name": ', ['body'], /not valid JSON/],
  ['a list for an object', 'POST', 'app', [], ['body'], /JSON object/],
  ['null for an object', 'POST', 'app', 'null', ['body'], /JSON object/],
  ['no body', 'POST', 'app', undefined, ['body', 'name'], /required/],
  ['a number for a name', 'POST', 'app', { name: 5 }, ['body', 'name'], /a string/],
  ['an empty name', 'POST', 'app', { name: '' }, ['body', 'name'], /1 to 256/],
  ['a lone surrogate', 'POST', 'app', '{"name": "\\ud800"}', ['body', 'name'], /Unicode/],
  ['an empty uid', 'POST', 'app', { name: 'x', uid: '' }, ['body', 'uid'], /1 to 256/],
  ['a uid with a slash', 'POST', 'app', { name: 'x', uid: 'a/b' }, ['body', 'uid'], /letters, digits/],
  ['a uid like an id', 'POST', 'app', { name: 'x', uid: 'app_1' }, ['body', 'uid'], /must not begin with "app_"/],
  ['text for a rate', 'POST', 'app', { name: 'x', rateLimit: '5' }, ['body', 'rateLimit'], /whole number/],
  ['a rate of nothing', 'POST', 'app', { name: 'x', throttleRate: 0 }, ['body', 'throttleRate'], />= 1/],
  ['a number in metadata', 'POST', 'app', { name: 'x', metadata: { a: 1 } }, ['body', 'metadata', 'a'], /a string/],
  ['metadata too large', 'POST', 'app', { name: 'x', metadata: { a: 'é'.repeat(2100) } }, ['body', 'metadata'], /4096/],
  [
    'an unknown policy',
    'POST',
    'app',
    { name: 'x', policy: 'public-apy' },
    ['body', 'policy'],
    /did you mean "public-api"/,
  ],
  [
    'a policy with a typo',
    'POST',
    ep,
    { url, policy: { schedul: 1 } },
    ['body', 'policy', 'schedul'],
    /did you mean "schedule"/,
  ],
  [
    'an unknown preset',
    'POST',
    ep,
    { url, policy: { extends: 'quik' } },
    ['body', 'policy', 'extends'],
    /did you mean "quick"/,
  ],
  ['no URL', 'POST', ep, {}, ['body', 'url'], /required/],
  ['something that is no URL', 'POST', ep, { url: 'nowhere' }, ['body', 'url'], /absolute URL/],
  ['another scheme', 'POST', ep, { url: 'ftp://example.com' }, ['body', 'url'], /http/],
  ['a blocked address', 'POST', ep, { url: 'http://127.0.0.1/' }, ['body', 'url'], /POSTHORN_ALLOW_NETWORKS/],
  ['a blocked address in disguise', 'POST', ep, { url: 'http://0x7f.1/' }, ['body', 'url'], /POSTHORN_ALLOW_NETWORKS/],
  [
    'an unknown event type',
    'POST',
    ep,
    { url, eventTypes: ['order.create'] },
    ['body', 'eventTypes', '[0]'],
    /did you mean "order.created"/,
  ],
  [
    'an unknown event type',
    'POST',
    ep,
    { url, filterTypes: ['a.b'] },
    ['body', 'filterTypes', '[0]'],
    /create it first/,
  ],
  ['no event type', 'POST', ep, { url, filterTypes: [] }, ['body', 'filterTypes'], /leave it out/],
  ['a number for a channel', 'POST', ep, { url, channels: ['a', 1] }, ['body', 'channels', '[1]'], /a string/],
  [
    'a channel with a space',
    'POST',
    ep,
    { url, channels: ['a', 'b c'] },
    ['body', 'channels', '[1]'],
    /letters, digits/,
  ],
  ['too many channels', 'POST', ep, { url, channels: 'abcdefghijk'.split('') }, ['body', 'channels'], /at most 10/],
  ['a weak secret', 'POST', ep, { url, secret: 'whsec_abc' }, ['body', 'secret'], /24 to 75 bytes/],
  ['a public key', 'POST', ep, { url, secret: 'whpk_abc' }, ['body', 'secret'], /cannot sign/],
  [
    'a schema that is none',
    'POST',
    'event-type',
    { name: 'a', description: '', schemas: { 1: { type: 'strin' } } },
    ['body', 'schemas', '1', 'type'],
    /JSON Schema/,
  ],
  [
    'a schema of text',
    'POST',
    'event-type',
    { name: 'a', description: '', schemas: { 1: 'x' } },
    ['body', 'schemas', '1'],
    /JSON Schema/,
  ],
  [
    'a schema without end',
    'POST',
    'event-type',
    { name: 'a', description: '', schemas: { 1: deep } },
    ['body', 'schemas', '1'],
    /nested/,
  ],
  [
    'a policy out of range',
    'POST',
    'policy',
    { name: 'p', policy: { maxDelayMs: -1 } },
    ['body', 'policy', 'maxDelayMs'],
    /from 1/,
  ],
  [
    'no such failure',
    'POST',
    'policy/simulate',
    { policy: 'quick', outageMs: 1, failure: 'time-out' },
    ['body', 'failure'],
    /did you mean "timeout"/,
  ],
  ['no such scope', 'POST', 'token', { name: 't', scope: 'root' }, ['body', 'scope'], /"admin", "application"/],
  ['no application', 'POST', 'token', { name: 't', scope: 'application' }, ['body', 'applicationId'], /required/],
  [
    'an end in the past',
    'POST',
    'token',
    { name: 't', scope: 'admin', expiresAt: '2020-01-01T00:00:00Z' },
    ['body', 'expiresAt'],
    /future/,
  ],
  [
    'an end that is no date',
    'POST',
    'token',
    { name: 't', scope: 'admin', expiresAt: 'soon' },
    ['body', 'expiresAt'],
    /date-time/,
  ],
  [
    'text for a flag',
    'GET',
    'event-type?include_archived=maybe',
    undefined,
    ['query', 'include_archived'],
    /true or false/,
  ],
];

describe('bad input', () => {
  it.each(BAD)(
    'ALL-06 %s gets 422 that says where and what to do, and nothing is stored',
    async (_, method, path, body, loc, says) => {
      const before = await everything();
      const options = typeof body === 'string' ? { headers: json } : {};
      const { status, body: answer } = await api.call(method, path, body, options);
      expect(status).toBe(422);
      expect(answer).toEqual({ detail: [{ loc, msg: expect.stringMatching(says), type: expect.any(String) }] });
      expect(await everything()).toBe(before);
    },
  );

  it('ALL-06 bytes that are not UTF-8 get 422', async () => {
    const { status, body } = await api.call('POST', 'app', Buffer.from([0x7b, 0xff]), { headers: json });
    expect([status, body.detail[0].type]).toEqual([422, 'value_error.jsondecode']);
  });

  it.each([
    ['an unknown application', 'GET', 'app/none', 404, 'not_found'],
    ['an unknown endpoint', 'GET', `${ep}/none`, 404, 'not_found'],
    ['an endpoint of an unknown application', 'POST', 'app/none/endpoint', 422, undefined],
    ['an unknown event type', 'GET', 'event-type/none', 404, 'not_found'],
    ['an unknown policy', 'GET', 'policy/quik', 404, 'not_found'],
    ['an unknown token', 'DELETE', 'token/none', 404, 'not_found'],
    ['an unknown path', 'GET', 'nothing/here', 404, 'not_found'],
    ['a path outside of the API', 'GET', '/nothing', 404, 'not_found'],
    ['a path that is no URL', 'GET', '/api/v1/app/%ff', 400, 'bad_request'],
    ['another method', 'DELETE', 'app', 405, 'method_not_allowed'],
    ['another method for one', 'POST', 'app/owner/', 405, 'method_not_allowed'],
  ])('ALL-06 %s gets a JSON body', async (_, method, path, status, code) => {
    const answer = await api.call(method, path, method === 'POST' ? {} : undefined);
    expect(answer.status).toBe(status);
    if (code !== undefined) expect(answer.body).toEqual({ code, detail: expect.stringMatching(/\w{3}/) });
  });

  it('ALL-06 a body that is too large, or not JSON, is refused in words', async () => {
    expect(await api.call('POST', 'app', { name: 'x'.repeat(20_000) })).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large', detail: expect.stringContaining('10000') },
    });
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/jsonx',
    ]) {
      expect(await api.call('POST', 'app', '{"name":"x"}', { headers: { 'content-type': type } })).toMatchObject({
        status: 415,
        body: { code: 'unsupported_media_type', detail: expect.stringContaining('application/json') },
      });
    }
  });
});

describe('any input at all', () => {
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('https://example.com', 'quick', 'order.created', '__proto__', 'constructor', -1, 0, 1e300, 2 ** 53),
  );
  const FIELDS = [
    'name',
    'uid',
    'url',
    'policy',
    'metadata',
    'headers',
    'channels',
    'eventTypes',
    'schemas',
    'secret',
    'scope',
  ];
  const MORE = [
    'description',
    'rateLimit',
    'version',
    'expiresAt',
    'applicationId',
    'outageMs',
    'failure',
    'key',
    'seed',
  ];
  const body = fc.oneof(
    anything,
    fc.dictionary(fc.constantFrom(...FIELDS, ...MORE), anything),
    fc
      .record({ name: fc.constant('x'), url: fc.constant('https://example.com'), description: fc.constant('') })
      .chain((base) =>
        fc.dictionary(fc.constantFrom(...FIELDS.slice(1), ...MORE), anything).map((more) => ({ ...base, ...more })),
      ),
  );
  const target = fc.constantFrom(
    ['POST', 'app'],
    ['PATCH', 'app/owner'],
    ['POST', ep],
    ['POST', 'event-type'],
    ['PUT', 'event-type/fuzzed'],
    ['POST', 'policy'],
    ['POST', 'policy/simulate'],
    ['POST', 'token'],
  );

  it('ALL-06 gets an answer in JSON, and never a 500', async () => {
    await fc.assert(
      fc.asyncProperty(target, body, async ([method = '', path = ''], value) => {
        const { status, body: answer } = await api.call(method, path, JSON.stringify(value) ?? '', { headers: json });
        expect(status).toBeLessThan(500);
        if (status >= 400) expect(answer).toHaveProperty('detail');
        if (path !== 'app/owner') return;
        await api.call('PATCH', `app/${answer.id ?? 'owner'}`, { uid: 'owner' });
      }),
      { numRuns: 400 },
    );
  });

  it('ALL-06 in a path or a query gets an answer in JSON, and never a 500', async () => {
    const part = fc
      .string({ unit: 'binary', maxLength: 40 })
      .map((text) => encodeURIComponent(Buffer.from(text).toString()));
    await fc.assert(
      fc.asyncProperty(
        part,
        part,
        fc.constantFrom('app', ep, 'event-type', 'policy', 'token'),
        async (id, query, list) => {
          for (const path of [`${list}/${id}`, `${list}?iterator=${query}`, `${list}?limit=${query}&order=${query}`]) {
            const { status, body: answer } = await api.call('GET', path);
            expect(status).toBeLessThan(500);
            if (status >= 400) expect(answer).toHaveProperty('detail');
          }
        },
      ),
    );
  });
});

describe('a failure on our side', () => {
  const failing = (error: Error) =>
    createTestApi({
      engine: {
        ...api.context.engine,
        changed: () => {
          throw error;
        },
      },
    });

  it('is told without what is inside', async () => {
    await using broken = await failing(new Error('SELECT secret FROM inside'));
    const { status, body } = await broken.call('POST', 'app', { name: 'x' });
    expect(status).toBe(500);
    expect(body).toEqual({ code: 'internal_error', detail: expect.stringContaining('request req-') });
  });

  it('is 503 with Retry-After when the store is away', async () => {
    await using broken = await failing(new PosthornError('store_unavailable', 'inside: disk full at sector 5'));
    const answer = await broken.call('POST', 'app', { name: 'x' });
    expect(answer).toMatchObject({ status: 503, body: { code: 'store_unavailable' }, headers: { 'retry-after': '1' } });
    expect(JSON.stringify(answer.body)).not.toContain('inside');
  });
});

describe('a store that does not answer', () => {
  it.each([
    [
      'it may have been stored: repeat it under the same key',
      false,
      'POST',
      /nobody knows.*same idempotency-key.*same eventId/,
    ],
    ['nothing was stored: repeat it', true, 'POST', /try again in a moment/],
    ['nothing was to be stored: repeat it', false, 'GET', /try again in a moment/],
  ] as const)('ALL-06 says what to do when %s', async (_, nothingStored, method, says) => {
    const store = { ...api.context.store, close: async () => {} };
    await using node = await createTestApi({ store });
    const fail = () => Promise.reject(new PosthornError('store_unavailable', 'the disk, in detail', { nothingStored }));
    Object.assign(store, { insert: fail, list: fail });
    const answer = await node.call(method, 'app', method === 'POST' ? { name: 'x' } : undefined);
    expect(answer).toMatchObject({
      status: 503,
      body: { code: 'store_unavailable', detail: expect.stringMatching(says) },
    });
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.body.detail).not.toContain('disk');
  });
});
