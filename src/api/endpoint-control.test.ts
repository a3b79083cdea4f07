import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomSecret } from '../ids.ts';
import { generateSecret } from '../signing/index.ts';
import { createTestApi, type TestApi } from './testing/test-api.ts';

let api: TestApi;
let path: string;

beforeAll(async () => {
  api = await createTestApi();
  await api.call('POST', 'app', { name: 'Owner', uid: 'owner' });
});
afterAll(() => api[Symbol.asyncDispose]());

async function create(body: object = {}): Promise<string> {
  const { body: made } = await api.call('POST', 'app/owner/endpoint', { url: 'https://example.com', ...body });
  path = `app/owner/endpoint/${made.id}`;
  return made.id;
}
const stored = async (id: string) => (await api.context.store.get({ kind: 'endpoint', idOrName: id }))?.record;
const secret = async () => (await api.call('GET', `${path}/secret`)).body.key;

describe('an endpoint secret', () => {
  it('is made when none is given, shown to its owner, and sealed in the store', async () => {
    const id = await create();
    const key = await secret();
    expect(key).toMatch(/^whsec_[A-Za-z0-9+/=]{32}$/);
    const record = await stored(id);
    expect(record?.secrets[0]?.key).toMatch(/^box1:/);
    expect(JSON.stringify(record)).not.toContain(key.slice('whsec_'.length));
  });

  it('is the one that was given, or the public half of an asymmetric one', async () => {
    const given = generateSecret('hmac', randomSecret);
    await create({ secret: given });
    expect(await secret()).toBe(given);
    await create({ secret: generateSecret('ed25519', randomSecret) });
    expect(await secret()).toMatch(/^whpk_/);
    await api.call('POST', `${path}/secret/rotate`);
    expect(await secret()).toMatch(/^whpk_/);
  });

  it('is rotated with an overlap, and at most ten old ones stay', async () => {
    const id = await create();
    const before = await secret();
    expect((await api.call('POST', `${path}/secret/rotate`)).status).toBe(204);
    expect(await secret()).not.toBe(before);
    const [current, old] = (await stored(id))?.secrets ?? [];
    expect(current?.expiresAt).toBeUndefined();
    expect((old?.expiresAt ?? 0) - (current?.createdAt ?? 0)).toBe(86_400_000);

    const key = generateSecret('hmac', randomSecret);
    expect((await api.call('POST', `${path}/secret/rotate`, { key, gracePeriodSeconds: 60 })).status).toBe(204);
    expect(await secret()).toBe(key);
    expect(await api.call('POST', `${path}/secret/rotate`, { key })).toMatchObject({ status: 422 });
    for (let index = 0; index < 8; index++) await api.call('POST', `${path}/secret/rotate`);
    const full = await api.call('POST', `${path}/secret/rotate`);
    expect(full).toMatchObject({ status: 400, body: { code: 'limit_reached' } });
    expect((await stored(id))?.secrets).toHaveLength(11);
  });

  it('is not changed by PUT or PATCH, which say where it is', async () => {
    await create();
    const key = await secret();
    const other = generateSecret('hmac', randomSecret);
    for (const method of ['PUT', 'PATCH']) {
      const { status, body } = await api.call(method, path, { url: 'https://example.com', secret: other });
      expect([status, body.detail[0].msg]).toEqual([422, expect.stringContaining('rotate')]);
      expect((await api.call(method, path, { url: 'https://example.com', secret: key })).status).toBe(200);
    }
    expect(await secret()).toBe(key);
  });
});

describe('custom headers', () => {
  const headers = async () => (await api.call('GET', `${path}/headers`)).body;

  it('are replaced by PUT, merged by PATCH whatever the case, and redacted where sensitive', async () => {
    await create({ headers: { 'X-First': '1' } });
    expect(await headers()).toEqual({ headers: { 'X-First': '1' }, sensitive: [] });
    const put = { headers: { Authorization: 'Bearer abc', 'X-Api-Key': 'k', 'X-Plain': 'v' } };
    expect((await api.call('PUT', `${path}/headers`, put)).status).toBe(204);
    expect(await headers()).toEqual({
      headers: { Authorization: '<redacted>', 'X-Api-Key': '<redacted>', 'X-Plain': 'v' },
      sensitive: ['Authorization', 'X-Api-Key'],
    });
    const patch = { headers: { 'x-plain': 'w', 'X-New': 'n', authorization: null }, deleteHeaders: ['X-API-KEY'] };
    expect((await api.call('PATCH', `${path}/headers`, patch)).status).toBe(204);
    expect(await headers()).toEqual({ headers: { 'x-plain': 'w', 'X-New': 'n' }, sensitive: [] });
  });

  it.each([
    ['Content-Length', '1'],
    ['host', 'x'],
    ['Transfer-Encoding', 'chunked'],
    ['webhook-id', 'x'],
    ['Webhook-Signature', 'x'],
    ['svix-id', 'x'],
    ['X-Webhook-Id', 'x'],
    ['user-agent', 'x'],
    ['bad name', 'x'],
    ['', 'x'],
    ['X-Ok', 'line\r\nbreak'],
    ['X-Ok', 'nul\u0000'],
    ['X-Ok', 'snowman ☃'],
    ['X-Ok', 'x'.repeat(4097)],
  ])('refuse %j: %j, by every way in, and keep what there was', async (name, value) => {
    await create({ headers: { 'X-Kept': '1' } });
    const bad = { headers: { [name]: value } };
    const answers = [
      await api.call('PUT', `${path}/headers`, bad),
      await api.call('PATCH', `${path}/headers`, bad),
      await api.call('PATCH', path, bad),
      await api.call('POST', 'app/owner/endpoint', { url: 'https://example.com', ...bad }),
    ];
    for (const { status, body } of answers) {
      expect([status, body.detail[0].loc]).toEqual([422, ['body', 'headers', name]]);
    }
    expect((await headers()).headers).toEqual({ 'X-Kept': '1' });
  });

  it('take __proto__ for what it is: a name like another', async () => {
    await create();
    const raw = '{"headers": {"__proto__": "x"}}';
    const options = { headers: { 'content-type': 'application/json' } };
    expect((await api.call('PATCH', `${path}/headers`, raw, options)).status).toBe(204);
    const { headers: shown } = await headers();
    expect(Object.entries(shown)).toEqual([['__proto__', 'x']]);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});
