/** The official Svix SDK, unchanged, against a listening server: the proof that we speak its wire format. */
import type { AddressInfo } from 'node:net';
import { ApiException, Svix } from 'svix';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from './testing/test-api.ts';

describe('the official svix SDK', () => {
  let api: TestApi;
  let svix: Svix;
  let serverUrl: string;

  beforeAll(async () => {
    api = await createTestApi();
    await api.server.listen({ host: '127.0.0.1', port: 0 });
    serverUrl = `http://127.0.0.1:${(api.server.server.address() as AddressInfo).port}`;
    svix = new Svix(api.token, { serverUrl });
  });
  afterAll(() => api[Symbol.asyncDispose]());

  it('creates, reads, lists, changes and deletes applications', async () => {
    const made = await svix.application.create({ name: 'SDK', uid: 'sdk', metadata: { plan: 'free' } });
    expect(made.createdAt).toBeInstanceOf(Date);
    expect(await svix.application.get('sdk')).toEqual(made);
    expect(await svix.application.getOrCreate({ name: 'SDK', uid: 'sdk' })).toEqual(made);
    const list = await svix.application.list({ limit: 1 });
    expect(list.data).toEqual([made]);
    expect((await svix.application.update('sdk', { name: 'SDK 2', uid: 'sdk' })).metadata).toEqual({});
    expect((await svix.application.patch('sdk', { throttleRate: 5 })).throttleRate).toBe(5);
    expect((await svix.application.patch('sdk', { throttleRate: null })).throttleRate).toBeUndefined();
    await svix.application.create({ name: 'Brief', uid: 'brief' });
    await svix.application.delete('brief');
    const error = await svix.application.get('brief').catch((each: unknown) => each);
    expect(error).toBeInstanceOf(ApiException);
    expect(error).toMatchObject({ code: 404, body: { code: 'not_found', detail: expect.stringContaining('brief') } });
  });

  it('pages through a list to its end', async () => {
    await svix.application.create({ name: 'Many', uid: 'many' });
    const made: string[] = [];
    for (let index = 0; index < 5; index++) {
      made.push((await svix.endpoint.create('many', { url: `https://example.com/${index}` })).id);
    }
    const seen: string[] = [];
    for (let iterator: string | null = null; ; ) {
      const page = await svix.endpoint.list('many', { limit: 2, iterator, order: 'ascending' as never });
      seen.push(...page.data.map(({ id }) => id));
      iterator = page.iterator;
      if (page.done) break;
    }
    expect(seen).toEqual(made);
  });

  it('creates, reads, changes and deletes endpoints', async () => {
    await svix.application.create({ name: 'Owner', uid: 'owner' });
    await svix.eventType.create({ name: 'sdk.sent', description: 'Sent' });
    const made = await svix.endpoint.create('owner', {
      url: 'https://example.com/hooks',
      uid: 'ep',
      filterTypes: ['sdk.sent'],
      channels: ['a'],
      headers: { 'X-From-Create': '1' },
    });
    expect(await svix.endpoint.get('owner', 'ep')).toEqual(made);
    expect(made).toMatchObject({ filterTypes: ['sdk.sent'], disabled: false, version: 1 });
    const { url } = made;
    expect((await svix.endpoint.update('owner', 'ep', { url, uid: 'ep', disabled: true })).disabled).toBe(true);
    expect((await svix.endpoint.patch('owner', 'ep', { disabled: false, channels: null })).disabled).toBe(false);
    await svix.endpoint.delete('owner', 'ep');
    await expect(svix.endpoint.get('owner', 'ep')).rejects.toMatchObject({ code: 404 });
  });

  it('reads and rotates secrets, and manages headers', async () => {
    await svix.application.create({ name: 'Keys', uid: 'keys' });
    await svix.endpoint.create('keys', { url: 'https://example.com', uid: 'ep' });
    const { key } = await svix.endpoint.getSecret('keys', 'ep');
    await svix.endpoint.rotateSecret('keys', 'ep', {});
    expect((await svix.endpoint.getSecret('keys', 'ep')).key).not.toBe(key);
    await svix.endpoint.rotateSecret('keys', 'ep', { key });
    expect((await svix.endpoint.getSecret('keys', 'ep')).key).toBe(key);

    await svix.endpoint.updateHeaders('keys', 'ep', { headers: { 'X-One': '1', Authorization: 'secret' } });
    await svix.endpoint.patchHeaders('keys', 'ep', { headers: { 'X-Two': '2' } });
    const { headers, sensitive } = await svix.endpoint.getHeaders('keys', 'ep');
    expect(new Set(Object.keys(headers))).toEqual(new Set(['Authorization', 'X-One', 'X-Two']));
    expect(sensitive).toEqual(['Authorization']);
  });

  it('manages event types', async () => {
    const schemas = { 1: { type: 'object', properties: { id: { type: 'string' } } } };
    const made = await svix.eventType.create({ name: 'order.paid', description: 'Paid', schemas });
    expect(await svix.eventType.get('order.paid')).toEqual(made);
    expect(made.schemas).toEqual(schemas);
    const error = await svix.eventType.create({ name: 'order.paid', description: '' }).catch((each: unknown) => each);
    expect(error).toMatchObject({ code: 409, body: { code: 'conflict' } });
    expect((await svix.eventType.update('order.paid', { description: 'New' })).description).toBe('New');
    expect((await svix.eventType.patch('order.paid', { deprecated: true })).deprecated).toBe(true);
    const names = (await svix.eventType.list({ withContent: true })).data.map(({ name }) => name);
    expect(names).toContain('order.paid');
    await svix.eventType.delete('order.paid');
    expect((await svix.eventType.list()).data.map(({ name }) => name)).not.toContain('order.paid');
    expect((await svix.eventType.create({ name: 'order.paid', description: 'Back' })).archived).toBe(false);
    await svix.eventType.delete('order.paid', { expunge: true });
    await expect(svix.eventType.get('order.paid')).rejects.toMatchObject({ code: 404 });
  });

  it('gets its own kind of error for bad input and for a bad token', async () => {
    const bad = await svix.application.create({ name: '' }).catch((each: unknown) => each);
    expect(bad).toMatchObject({ code: 422, body: { detail: [{ loc: ['body', 'name'] }] } });
    const stranger = new Svix('ph_stranger', { serverUrl });
    await expect(stranger.application.list()).rejects.toMatchObject({
      code: 401,
      body: { code: 'authentication_failed' },
    });
  });

  it('works with a trailing slash in the server URL, which it does not strip', async () => {
    const slashed = new Svix(api.token, { serverUrl: `${serverUrl}/` });
    expect((await slashed.application.list()).data.length).toBeGreaterThan(0);
  });

  it('finds the server healthy', async () => {
    await svix.health.get();
  });
});
