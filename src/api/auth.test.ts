import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { createTokens } from '../resources/tokens.ts';
import { createTestApi, type TestApi } from './testing/test-api.ts';

let api: TestApi;
let aheadMs = 0;
let own: { id: string };
let tokens: Record<'application' | 'reader' | 'ownReader', string>;

beforeAll(async () => {
  api = await createTestApi({ clock: { ...systemClock, now: () => systemClock.now() + aheadMs } });
  own = (await api.call('POST', 'app', { name: 'Own', uid: 'own' })).body;
  await api.call('POST', 'app', { name: 'Other', uid: 'other' });
  await api.call('POST', 'app/other/endpoint', { url: 'https://example.com', uid: 'theirs' });
  const make = async (body: object) => (await api.call('POST', 'token', { name: 'test', ...body })).body.token;
  tokens = {
    application: await make({ scope: 'application', applicationId: 'own' }),
    reader: await make({ scope: 'read-only' }),
    ownReader: await make({ scope: 'read-only', applicationId: own.id }),
  };
});
afterAll(() => api[Symbol.asyncDispose]());

const as = async (token: string, method: string, path: string, body?: object) =>
  (await api.call(method, path, body, { token })).status;

describe('a request without a valid token', () => {
  it.each([
    ['no header', {}],
    ['another scheme', { authorization: 'Basic abc' }],
    ['an unknown token', { authorization: 'Bearer ph_unknown' }],
    ['an empty one', { authorization: 'Bearer ' }],
  ])('gets 401 with a JSON body: %s', async (_, headers) => {
    const answer = await api.server.inject({ method: 'GET', url: '/api/v1/app', headers });
    expect(answer.statusCode).toBe(401);
    expect(answer.json()).toEqual({ code: 'authentication_failed', detail: expect.stringContaining('token') });
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  it('is not let in by the hash that the store has', async () => {
    const page = await api.context.store.list({ kind: 'token', limit: 10, order: 'ascending' });
    for (const { record } of page.items) expect(await as(record.hash, 'GET', 'app')).toBe(401);
  });
});

describe('an application token', () => {
  it('manages its own application by id and by uid, and does not publish to it', async () => {
    const { application } = tokens;
    expect(await as(application, 'GET', 'app/own')).toBe(200);
    expect(await as(application, 'GET', `app/${own.id}`)).toBe(200);
    expect(await as(application, 'POST', 'app/own/endpoint', { url: 'https://example.com', uid: 'mine' })).toBe(201);
    expect(await as(application, 'PATCH', 'app/own/endpoint/mine', { description: 'x' })).toBe(200);
    expect(await as(application, 'GET', 'app/own/endpoint/mine/secret')).toBe(200);
    expect(await as(application, 'GET', 'event-type')).toBe(200);
    expect(await as(application, 'GET', 'policy')).toBe(200);
    expect(await as(application, 'POST', 'app/own/msg', { eventType: 'a', payload: {} })).toBe(403);
  });

  it('finds nothing of another application, just as if there were none', async () => {
    for (const path of [
      'app/other',
      'app/other/endpoint',
      'app/other/endpoint/theirs',
      'app/none',
      'app/none/endpoint',
    ]) {
      const { status, body } = await api.call('GET', path, undefined, { token: tokens.application });
      expect([status, body.code]).toEqual([404, 'not_found']);
    }
    expect(await as(tokens.application, 'DELETE', 'app/other/endpoint/theirs')).toBe(404);
    expect((await api.call('GET', 'app/other/endpoint/theirs')).status).toBe(200);
  });

  it.each([
    ['GET', 'app'],
    ['POST', 'app'],
    ['PATCH', 'app/own'],
    ['DELETE', 'app/own'],
    ['POST', 'event-type'],
    ['POST', 'policy'],
    ['GET', 'token'],
    ['POST', 'token'],
  ])('gets 403 for what only an admin may do: %s %s', async (method, path) => {
    const answer = await api.call(method, path, method === 'GET' ? undefined : {}, { token: tokens.application });
    expect(answer).toMatchObject({ status: 403, body: { code: 'insufficient_access', detail: expect.any(String) } });
  });
});

describe('a read-only token', () => {
  it('reads, everywhere or in its application, and simulates', async () => {
    expect(await as(tokens.reader, 'GET', 'app')).toBe(200);
    expect(await as(tokens.reader, 'HEAD', 'app/other')).toBe(200);
    expect(await as(tokens.ownReader, 'GET', 'app/own')).toBe(200);
    expect(await as(tokens.ownReader, 'GET', 'app/other')).toBe(404);
    expect(await as(tokens.ownReader, 'GET', 'app')).toBe(403);
    expect(await as(tokens.reader, 'POST', 'policy/simulate', { policy: 'quick', outageMs: 1 })).toBe(200);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('changes nothing by %s', async (method) => {
    const path = method === 'POST' ? 'app' : 'app/own';
    expect(await as(tokens.reader, method, path, { name: 'changed' })).toBe(403);
    expect((await api.call('GET', 'app/own')).body.name).toBe('Own');
  });
});

describe('signing secrets', () => {
  const SECRET = 'whsec_c2lnbmluZy1zZWNyZXQtb2YtdGhlLXRlc3Qh';
  const PROVIDERS = 'the-secret-that-github-signs-with';
  const HEADER = 'the-key-of-a-custom-header';
  let urlToken = '';
  const values: Record<string, string> = { app: 'own', endpoint: 'secretive', source: 'hub', name: 'quick' };

  beforeAll(async () => {
    const endpoint = { url: 'https://example.com', uid: 'secretive', secret: SECRET, headers: { 'x-api-key': HEADER } };
    const source = { type: 'github', name: 'Hub', uid: 'hub', config: { secret: PROVIDERS } };
    const { call } = api;
    expect((await call('POST', 'app/own/endpoint', endpoint)).status).toBe(201);
    expect((await call('POST', '/ingest/api/v1/source', source)).status).toBe(201);
    expect((await call('POST', '/ingest/api/v1/source/hub/endpoint', endpoint)).status).toBe(201);
    const { body } = await call('POST', '/ingest/api/v1/source/hub/token/rotate');
    urlToken = body.ingestUrl.split('/').at(-1);
    expect(urlToken).toMatch(/^[\w-]{32}$/);
  });

  /** Every GET that the API describes, at what there is. */
  async function reads(): Promise<string[]> {
    const { body } = await api.call('GET', 'openapi.json');
    return Object.entries<object>(body.paths)
      .filter(([, methods]) => 'get' in methods)
      .map(([path]) => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'none'));
  }

  it('are told by two paths, to an admin', async () => {
    const telling: string[] = [];
    for (const path of await reads()) {
      if (String(JSON.stringify((await api.call('GET', path)).body)).includes(SECRET)) telling.push(path);
    }
    expect(telling).toEqual([
      '/api/v1/app/own/endpoint/secretive/secret',
      '/ingest/api/v1/source/hub/endpoint/secretive/secret',
    ]);
  });

  it('are told by the paths of a source where they are in its URL, to an admin, and are null to a read-only token', async () => {
    const telling: string[] = [];
    for (const path of await reads()) {
      if (String(JSON.stringify((await api.call('GET', path)).body)).includes(urlToken)) telling.push(path);
    }
    expect(telling).toEqual(['/ingest/api/v1/source', '/ingest/api/v1/source/hub']);
    const { body } = await api.call('GET', '/ingest/api/v1/source/hub', undefined, { token: tokens.reader });
    expect(body).toMatchObject({ uid: 'hub', ingestUrl: null });
    expect(await as(tokens.reader, 'POST', '/ingest/api/v1/source/hub/token/rotate')).toBe(403);
  });

  it.each(['reader', 'ownReader'] as const)('are told by no path to a read-only token (%s)', async (name) => {
    for (const path of await reads()) {
      const { status, body } = await api.call('GET', path, undefined, { token: tokens[name] });
      const text = String(JSON.stringify(body));
      for (const secret of [SECRET, PROVIDERS, HEADER, urlToken]) expect(text, path).not.toContain(secret);
      if (path.endsWith('/secret')) expect([status, body.code], path).toEqual([403, 'insufficient_access']);
    }
    expect(await as(tokens[name], 'HEAD', 'app/own/endpoint/secretive/secret')).toBe(403);
  });
});

describe('tokens', () => {
  it('are stored as a hash only and shown once', async () => {
    const { body } = await api.call('POST', 'token', { name: 'once', scope: 'admin' });
    expect(body.token).toMatch(/^ph_[\w-]{40}$/);
    const stored = await api.context.store.get({ kind: 'token', idOrName: body.id });
    expect(JSON.stringify(stored)).not.toContain(body.token.slice(3));
    const { body: shown } = await api.call('GET', `token/${body.id}`);
    expect(shown).toEqual({
      id: body.id,
      name: 'once',
      scope: 'admin',
      applicationId: null,
      createdAt: body.createdAt,
      updatedAt: body.updatedAt,
      expiresAt: null,
    });
    expect((await api.call('GET', `token/${stored?.record.hash}`)).status).toBe(404);
  });

  it('let nobody in from the moment they are deleted, though they were used just before', async () => {
    const { body } = await api.call('POST', 'token', { name: 'short', scope: 'admin' });
    expect(await as(body.token, 'GET', 'app')).toBe(200);
    expect((await api.call('DELETE', `token/${body.id}`)).status).toBe(204);
    expect(await as(body.token, 'GET', 'app')).toBe(401);
    expect((await api.call('DELETE', `token/${body.id}`)).status).toBe(404);
  });

  it('let nobody in after their end, though they were used just before', async () => {
    const expiresAt = new Date(systemClock.now() + 60_000).toISOString();
    const { body } = await api.call('POST', 'token', { name: 'ends', scope: 'admin', expiresAt });
    expect(body.expiresAt).toBe(expiresAt);
    expect(await as(body.token, 'GET', 'app')).toBe(200);
    aheadMs = 60_001;
    expect(await as(body.token, 'GET', 'app')).toBe(401);
    aheadMs = 0;
  });

  it('of an application go with it', async () => {
    await api.call('POST', 'app', { name: 'Brief', uid: 'brief' });
    const { body } = await api.call('POST', 'token', { name: 't', scope: 'application', applicationId: 'brief' });
    await api.call('DELETE', 'app/brief');
    expect([401, 404]).toContain(await as(body.token, 'GET', 'app/brief'));
  });

  it('of the configuration are checked by the node that has them and stored nowhere', async () => {
    const { store } = api.context;
    const before = await store.list({ kind: 'token', limit: 100, order: 'ascending' });
    const first = createTokens({ ...api.context, adminToken: 'first-configured-token' });
    const second = createTokens({ ...api.context, adminToken: 'second-configured-token' });
    const without = createTokens(api.context);
    expect(await first.authenticate('first-configured-token')).toMatchObject({ scope: 'admin' });
    expect(await second.authenticate('second-configured-token')).toMatchObject({ scope: 'admin' });
    expect(await first.authenticate('second-configured-token')).toBeUndefined();
    expect(await without.authenticate('first-configured-token')).toBeUndefined();
    expect(await store.list({ kind: 'token', limit: 100, order: 'ascending' })).toEqual(before);
    expect((await first.authenticate(tokens.reader))?.scope).toBe('read-only');
  });
});
