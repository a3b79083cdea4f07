import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLICY_DEFAULTS, presets } from '../policy/index.ts';
import { createServer } from './server.ts';
import { createTestApi, type TestApi } from './testing/test-api.ts';

describe('the server', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi();
  });
  afterAll(() => api[Symbol.asyncDispose]());
  const get = (url: string, method: 'GET' | 'HEAD' = 'GET') => api.server.inject({ method, url });

  it('says without a token that it lives, with and without a trailing slash', async () => {
    for (const url of ['/health/ping', '/health/ping/', '/api/v1/health/ping', '/api/v1/health/ping/']) {
      expect((await get(url)).statusCode).toBe(204);
      expect((await get(url, 'HEAD')).statusCode).toBe(204);
    }
  });

  it('says at its root, without a token, where everything is', async () => {
    const { api: base, openapi, health, name } = (await get('/')).json();
    expect({ name, base }).toEqual({ name: 'Posthorn', base: '/api/v1' });
    for (const path of [openapi, health]) expect((await get(path)).statusCode).toBe(200);
    expect(await api.call('POST', '/', {})).toMatchObject({ status: 405 });
  });

  it('says how much is waiting, or that its store is away', async () => {
    for (const url of ['/health', '/api/v1/health/']) {
      const answer = await get(url);
      expect(answer.statusCode).toBe(200);
      expect(answer.json()).toEqual({
        status: 'ok',
        pending: 0,
        retrying: 0,
        leased: 0,
        held: 0,
        dead: 0,
        oldestDueAt: null,
      });
    }
    const { resources, context } = api;
    const counts = () => Promise.reject(new Error('disk gone'));
    const failing = createServer({
      resources,
      clock: context.clock,
      logger: false,
      store: { ...context.store, counts },
    });
    const answer = await failing.inject('/health');
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ code: 'store_unavailable' });
    expect(answer.body).not.toContain('disk');
    await failing.close();
  });

  it('describes every route in OpenAPI 3.1, each with its own operation id', async () => {
    const document = (await get('/api/v1/openapi.json')).json();
    expect(document.openapi).toBe('3.1.0');
    const operations = Object.entries<Record<string, { operationId?: string; responses: object }>>(
      document.paths,
    ).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    );
    const ours = operations.filter(({ path }) => !path.includes('/health'));
    expect(ours.length).toBeGreaterThan(30);
    expect(ours.filter(({ operationId }) => operationId === undefined)).toEqual([]);
    expect(new Set(ours.map(({ operationId }) => operationId)).size).toBe(ours.length);
    for (const { responses } of ours) expect(Object.keys(responses)).toContain('422');
    const paths = Object.keys(document.paths);
    for (const path of [
      '/api/v1/app/{app}/endpoint/{endpoint}/secret/rotate',
      '/api/v1/policy/simulate',
      '/api/v1/token',
    ]) {
      expect(paths).toContain(path);
    }
  });

  it('says which bodies may be left out, and what a policy is', async () => {
    const { paths, components } = (await get('/api/v1/openapi.json')).json();
    const required = (path: string) => paths[`/api/v1/${path}`].post.requestBody.required;
    expect(required('app/{app}/endpoint/{endpoint}/secret/rotate')).toBe(false);
    expect(required('dead-letter/retry')).toBe(true);
    expect(required('app')).toBe(true);
    const fits = new Ajv({ allowUnionTypes: true }).compile(components.schemas.Policy);
    for (const { policy } of Object.values(presets)) expect(fits(policy), JSON.stringify(fits.errors)).toBe(true);
    expect(fits({ attempts: 3 })).toBe(false);
    expect(new Set(Object.keys(components.schemas.Policy.properties))).toEqual(
      new Set(['extends', ...Object.keys(POLICY_DEFAULTS)]),
    );
  });

  it('takes a POST without a body, and one with a content type and an empty body', async () => {
    await api.call('POST', 'app', { name: 'B', uid: 'bodiless' });
    await api.call('POST', 'app/bodiless/endpoint', { url: 'https://example.com', uid: 'ep' });
    const resume = 'app/bodiless/endpoint/ep/resume';
    expect((await api.call('POST', resume)).status).toBe(200);
    expect((await api.call('POST', resume, '', { headers: { 'content-type': 'application/json' } })).status).toBe(200);
    expect((await api.call('POST', resume, undefined, { headers: { 'content-length': '0' } })).status).toBe(200);
  });

  it('answers in JSON what is not HTTP at all, or has too many headers', async () => {
    await api.server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = api.server.server.address() as AddressInfo;
    for (const [sent, status] of [
      ['nonsense\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    ] as const) {
      const socket = connect(port, '127.0.0.1');
      socket.end(sent);
      const answer = await text(socket);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({
        code: expect.any(String),
        detail: expect.any(String),
      });
    }
  });

  it('takes a uid of 256 characters in a path', async () => {
    const uid = 'u'.repeat(256);
    await api.call('POST', 'app', { name: 'Long', uid });
    expect((await api.call('GET', `app/${uid}`)).body.uid).toBe(uid);
  });
});
