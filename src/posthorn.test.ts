import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { loadConfig } from './config/index.ts';
import { createPosthorn, withoutSecrets } from './posthorn.ts';
import { createTestSchema } from './testing/postgres-schema.ts';
import { startReceiver } from './testing/scripted-receiver.ts';

it('shows its configuration without secrets, however it is printed or copied', () => {
  const adminToken = 'an-admin-token-0123456789';
  const secretKey = 'a-secret-key-of-enough-length';
  const config = withoutSecrets(loadConfig({ overrides: { store: 'sqlite::memory:', adminToken, secretKey } }));
  for (const shown of [JSON.stringify({ config }), inspect(config), inspect({ ...config })]) {
    expect(shown).not.toContain(adminToken);
    expect(shown).not.toContain(secretKey);
  }
  expect(config.secretKey).toBeUndefined();
  expect(config.adminToken).toBe(adminToken);
  expect(config).toMatchObject({ store: 'sqlite::memory:', port: 8420 });
  expect(Object.isFrozen(config)).toBe(true);
});

it('keeps its admin token whichever nodes start beside it, with another one or with none', async () => {
  const schema = await createTestSchema();
  const adminToken = 'an-admin-token-0123456789';
  const open = (settings: { adminToken?: string; role?: 'api' | 'worker' }) =>
    createPosthorn({ store: schema.url, postgresPool: 2, ...settings });
  const nodes = [await open({ adminToken })];
  try {
    nodes.push(await open({ role: 'worker' }), await open({ role: 'api', adminToken: 'the-token-of-another-node' }));
    const [first, worker, other] = nodes;
    expect(await first?.tokens.authenticate(adminToken)).toMatchObject({ scope: 'admin' });
    expect(await other?.tokens.authenticate('the-token-of-another-node')).toMatchObject({ scope: 'admin' });
    expect(await worker?.tokens.authenticate(adminToken)).toBeUndefined();
    await worker?.close(0);
    nodes.push(await open({ adminToken }));
    expect(await nodes[3]?.tokens.authenticate(adminToken)).toMatchObject({ scope: 'admin' });
  } finally {
    for (const node of nodes) await node.close(0);
    await schema.drop();
  }
});

it.each([
  [true, ['svix-id', 'svix-signature', 'svix-timestamp']],
  [false, []],
])('sends the names that Svix uses when svixNames is %s', async (svixNames, expected) => {
  const receiver = await startReceiver();
  const schema = await createTestSchema();
  const settings = { store: schema.url, postgresPool: 2, allowNetworks: ['127.0.0.0/8'] };
  const posthorn = await createPosthorn({ ...settings, svixNames });
  try {
    await posthorn.applications.create({ name: 'one', uid: 'one' });
    await posthorn.endpoints.create('one', { url: receiver.url });
    await posthorn.publish({ application: 'one', eventType: 'a.b', payload: {} });
    await receiver.arrived(1);
    const names = Object.keys(receiver.arrivals[0]?.headers ?? {});
    expect(names.filter((name) => name.startsWith('svix-')).toSorted((a, b) => a.localeCompare(b))).toEqual(expected);
    expect(names).toContain('webhook-signature');
  } finally {
    await posthorn.close(0);
    await receiver.close();
    await schema.drop();
  }
});
