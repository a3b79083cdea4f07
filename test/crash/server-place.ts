/** What a server in a process of its own runs on: POSTHORN_TEST_STORE names it, as for the rigs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestSchema } from '../../src/testing/postgres-schema.ts';
import { testStore } from '../../src/testing/test-store.ts';

export interface ServerPlace {
  /** For POSTHORN_STORE. */
  readonly store: string;
  readonly env: Record<string, string>;
  close(): Promise<void>;
}

export async function openServerPlace(): Promise<ServerPlace> {
  const name = testStore();
  if (name === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'posthorn-crash-'));
    const close = async () => rmSync(folder, { recursive: true, force: true });
    return { store: `sqlite:${join(folder, 'posthorn.db')}`, env: {}, close };
  }
  const schema = await createTestSchema();
  // What a killed process had is nobody's until its lease is over: the shortest there is.
  const env = { POSTHORN_LEASE_MS: '1000', POSTHORN_POSTGRES_POOL: '4' };
  const queue = {
    POSTHORN_DISPATCH: 'bullmq',
    POSTHORN_REDIS_URL: process.env.POSTHORN_TEST_REDIS_URL ?? '',
    POSTHORN_REDIS_PREFIX: `{${schema.name}}`,
  };
  return { store: schema.url, env: name === 'postgres' ? env : { ...env, ...queue }, close: () => schema.drop() };
}
