import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, type TestApi } from './testing/test-api.ts';

describe('event types', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi();
  });
  afterAll(() => api[Symbol.asyncDispose]());

  it('have schemas, which lists show when asked', async () => {
    const schemas = {
      1: { type: 'object' },
      2: { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [] },
    };
    const bad = await api.call('POST', 'event-type', { name: 'a.b', description: 'd', schemas });
    expect(bad.status).toBe(422);
    schemas[2] = { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{}] as never[] };
    const { status, body } = await api.call('POST', 'event-type', { name: 'a.b', description: 'd', schemas });
    expect(status).toBe(201);
    expect(body).toEqual({
      name: 'a.b',
      description: 'd',
      archived: false,
      deprecated: false,
      groupName: null,
      featureFlag: null,
      schemas,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const find = async (query: string) =>
      (await api.call('GET', `event-type${query}`)).body.data.find((each: { name: string }) => each.name === 'a.b');
    expect((await find('')).schemas).toBeNull();
    expect((await find('?with_content=true')).schemas).toEqual(schemas);
  });

  it('exist once; an archived one comes back with what it is created with', async () => {
    await api.call('POST', 'event-type', { name: 'back', description: 'old', groupName: 'g' });
    expect((await api.call('POST', 'event-type', { name: 'back', description: 'new' })).body.code).toBe('conflict');
    expect((await api.call('DELETE', 'event-type/back')).status).toBe(204);
    expect((await api.call('GET', 'event-type/back')).body.archived).toBe(true);
    const again = await api.call('POST', 'event-type', { name: 'back', description: 'new' });
    expect(again).toMatchObject({ status: 201, body: { description: 'new', archived: false, groupName: null } });
  });

  it('are put under the name in the path, whether they exist or not', async () => {
    expect(await api.call('PUT', 'event-type/put.it', { description: 'a', groupName: 'g' })).toMatchObject({
      status: 201,
      body: { name: 'put.it' },
    });
    expect(await api.call('PUT', 'event-type/put.it', { description: 'b' })).toMatchObject({
      status: 200,
      body: { description: 'b', groupName: null },
    });
    expect((await api.call('PUT', 'event-type/a%2Fb', { description: 'b' })).status).toBe(422);
  });

  it('keep what a PATCH leaves out, and lose what it sets to null', async () => {
    await api.call('POST', 'event-type', { name: 'p', description: 'd', featureFlag: 'f', schemas: { 1: {} } });
    const kept = await api.call('PATCH', 'event-type/p', { deprecated: true });
    expect(kept.body).toMatchObject({ description: 'd', featureFlag: 'f', schemas: { 1: {} }, deprecated: true });
    const cleared = await api.call('PATCH', 'event-type/p', { featureFlag: null, schemas: null });
    expect(cleared.body).toMatchObject({ featureFlag: null, schemas: null });
    expect((await api.call('PATCH', 'event-type/p', { description: null })).status).toBe(422);
  });

  it('are gone when expunged', async () => {
    await api.call('POST', 'event-type', { name: 'x', description: '' });
    expect((await api.call('DELETE', 'event-type/x?expunge=true')).status).toBe(204);
    expect((await api.call('GET', 'event-type/x')).status).toBe(404);
    expect((await api.call('DELETE', 'event-type/x?expunge=true')).status).toBe(404);
  });
});
