import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Server, startRedis } from '../testing/servers.ts';
import { runInMemory } from './testing/run-in-memory.ts';

describe('posthorn doctor, with BullMQ', () => {
  let redis: Server;
  beforeAll(async () => {
    redis = await startRedis({ settings: { requirepass: 'hunter2', 'maxmemory-policy': 'allkeys-lru' } });
  });
  afterAll(() => redis.stop());

  const doctor = (url: string) =>
    runInMemory('doctor', {
      POSTHORN_STORE: 'sqlite::memory:',
      POSTHORN_PORT: '0',
      POSTHORN_DISPATCH: 'bullmq',
      POSTHORN_REDIS_URL: url,
    });

  it('finds a Redis that answers, and says what it would lose', async () => {
    const { exitCode, out } = await doctor(`redis://:hunter2@127.0.0.1:${redis.port}`);
    expect(out).toMatch(/^✓ redis: 127\.0\.0\.1:\d+ answers \(version \d+\.\d+\.\d+\)$/m);
    expect(out).toMatch(/^! redis: .*allkeys-lru\)\n {4}.*noeviction/m);
    expect(out).toMatch(/^! redis: .*appendonly no\)\n {4}Nothing is lost/m);
    expect(out).not.toContain('hunter2');
    expect(exitCode).toBe(0);
  });

  it('ALL-06 says why it cannot be used, without the password', async () => {
    const { exitCode, out } = await doctor(`redis://:not-hunter2@127.0.0.1:${redis.port}`);
    expect(out).toMatch(/^✗ redis: 127\.0\.0\.1:\d+ does not answer \(.*WRONGPASS/m);
    expect(out).not.toContain('hunter2');
    expect(exitCode).toBe(1);
    const nobody = await doctor('redis://127.0.0.1:1');
    expect(nobody.out).toMatch(/^✗ redis: 127\.0\.0\.1:1 does not answer \(.*ECONNREFUSED.*\n {4}Start Redis/m);
  });

  it('asks for no Redis when the store dispatches', async () => {
    const { out } = await runInMemory('doctor', { POSTHORN_STORE: 'sqlite::memory:', POSTHORN_PORT: '0' });
    expect(out).not.toContain('redis:');
  });
});
