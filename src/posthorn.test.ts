import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { loadConfig } from './config/index.ts';
import { createPosthorn, withoutSecrets } from './posthorn.ts';
import { createTestSchema } from './testing/postgres-schema.ts';

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
