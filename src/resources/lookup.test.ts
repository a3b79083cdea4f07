import { expect, it } from 'vitest';
import { createTestApi } from '../api/testing/test-api.ts';

it('ALL-06 who names a source by its uid where an application is asked for is told the id that is taken', async () => {
  await using api = await createTestApi();
  const { endpoints, sources } = api.resources;
  const { id } = await sources.create({ name: 'Open', uid: 'open', provider: 'none' });
  const input = { url: 'http://127.0.0.1:9/', uid: 'shop' };
  const told = {
    code: 'not_found',
    message: `There is no application "open"; the source of that name is meant by its id, ${id}`,
  };
  await expect(endpoints.create('open', input)).rejects.toMatchObject(told);
  await expect(endpoints.list('open')).rejects.toMatchObject(told);
  expect((await endpoints.create(id, input)).applicationId).toBe(id);
  await expect(endpoints.create('nobody', input)).rejects.toThrow(/^There is no application "nobody"$/);
});
