import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { loadConfig } from './config/index.ts';
import { withoutSecrets } from './posthorn.ts';

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
