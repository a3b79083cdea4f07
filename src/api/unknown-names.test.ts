import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from './testing/test-api.ts';

describe('ALL-06 misspelt names', () => {
  let api: TestApi;
  const url = 'https://example.com/hooks';
  beforeAll(async () => {
    api = await createTestApi();
    await api.call('POST', 'app', { name: 'Owner', uid: 'owner' });
  });
  afterAll(() => api[Symbol.asyncDispose]());

  it.each([
    ['GET', 'delivery?status=ded', 'status', 'did you mean "state"?'],
    ['GET', 'dead-letter?aplication=owner', 'aplication', 'did you mean "application"?'],
    ['GET', 'dead-letter?banana=1', 'banana', 'use application, endpoint'],
    ['GET', 'policy?limt=1', 'limt', 'did you mean "limit"?'],
    ['GET', 'policy/quick?limit=1', 'limit', 'there are none here'],
    ['GET', 'token?oder=ascending', 'oder', 'did you mean "order"?'],
    ['POST', 'dead-letter/retry?application=owner', 'application', 'there are none here'],
  ])('%s %s is refused', async (method, path, name, hint) => {
    const answer = await api.call(method, path, method === 'POST' ? {} : undefined);
    expect(answer).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', name], msg: expect.stringContaining(hint) }] },
    });
  });

  it('parameters that only Svix knows are ignored on the routes that it has too', async () => {
    for (const path of ['app?foo=1', 'app/owner/endpoint?limt=1', 'app/owner/msg?foo=1', 'event-type?foo=1']) {
      expect((await api.call('GET', path)).status).toBe(200);
    }
  });

  it.each([
    ['polcy', 'policy'],
    ['evenTypes', 'eventTypes'],
    ['Url', 'url'],
  ])('an endpoint with "%s" is asked about "%s"', async (name, meant) => {
    for (const [method, path] of [
      ['POST', 'app/owner/endpoint'],
      ['PUT', 'app/owner/endpoint/ep'],
      ['PATCH', 'app/owner/endpoint/ep'],
    ] as const) {
      expect(await api.call(method, path, { url, [name]: 'quick' })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', name], msg: expect.stringContaining(`did you mean "${meant}"?`) }] },
      });
    }
  });

  it('an endpoint may be sent back as it was read, and with fields that are near none of ours', async () => {
    const { body } = await api.call('POST', 'app/owner/endpoint', { url, featureFlags: ['x'] });
    const again = await api.call('PUT', `app/owner/endpoint/${body.id}`, body);
    expect(again).toMatchObject({ status: 200, body: { id: body.id } });
  });

  it.each([
    ['onUnknownEvnt', 'onUnknownEvent'],
    ['polcy', 'policy'],
    ['forwardas', 'forwardAs'],
  ])('a source with "%s" is asked about "%s"', async (name, meant) => {
    for (const [method, path] of [
      ['POST', '/ingest/api/v1/source'],
      ['PUT', '/ingest/api/v1/source/misspelt'],
    ] as const) {
      expect(await api.call(method, path, { name: 'Any', type: 'none', [name]: 'quick' })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', name], msg: `is not a field of a source; did you mean "${meant}"?` }] },
      });
    }
  });

  it('a source may be sent back as it was read, and with fields that are near none of ours', async () => {
    const given = { name: 'Any', uid: 'any', type: 'generic-webhook', featureFlags: ['x'] };
    const { body } = await api.call('POST', '/ingest/api/v1/source', given);
    expect(await api.call('PUT', '/ingest/api/v1/source/any', body)).toMatchObject({
      status: 200,
      body: { id: body.id },
    });
  });

  it('all dead letters are retried only when it is said so', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const body of [undefined, '', 'null', '[]']) {
      const answer = await api.call('POST', 'dead-letter/retry', body, body === undefined ? {} : { headers });
      expect(answer).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body'], msg: expect.stringContaining('a JSON object') }] },
      });
    }
    for (const body of [{}, { limit: 10 }, { all: false }]) {
      expect(await api.call('POST', 'dead-letter/retry', body)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body'], msg: expect.stringContaining('"all": true') }] },
      });
    }
    const all = await api.call('POST', 'dead-letter/retry', { all: true });
    expect(all).toMatchObject({ status: 202, body: { count: 0 } });
  });
});
