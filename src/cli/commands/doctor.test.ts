import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createServer } from '../../api/index.ts';
import { systemClock } from '../../clock.ts';
import type { Resources } from '../../resources/index.ts';
import { openSqliteStore } from '../../store/sqlite/index.ts';
import { takeLock } from '../../store/sqlite/lock.ts';
import { openMemoryStore } from '../../testing/test-store.ts';
import { runInMemory } from '../testing/run-in-memory.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-doctor-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const doctor = (env: Record<string, string> = {}) =>
  runInMemory('doctor', { POSTHORN_STORE: `sqlite:${join(folder, 'p.db')}`, POSTHORN_PORT: '0', ...env });

/** A file with the lock of another process on it, which left its name there. */
async function lockAsAnother(path: string): Promise<{ close(): void }> {
  const store = await openSqliteStore({ path, thread: false });
  await store.join({ name: 'some-host, process 4711', now: Date.now(), leaseMs: 10_000 });
  await store.close();
  return takeLock(path, () => '');
}

describe('posthorn doctor', () => {
  it('finds nothing wrong on a sound machine, and leaves nothing behind', async () => {
    const { exitCode, out } = await doctor({ POSTHORN_SECRET_KEY: 'k'.repeat(16) });
    expect(out).toMatch(/^✓ Node: /m);
    expect(out).toMatch(/^✓ clock: /m);
    expect(out).toMatch(/^✓ configuration: /m);
    expect(out).toMatch(/^✓ store: .* will be created at the first start$/m);
    expect(out).toMatch(/^. disk: \d+ MB free in /m);
    expect(out).toMatch(/^✓ port: /m);
    expect(out).toMatch(/^✓ guard: endpoints may be at public addresses only$/m);
    expect(out).toMatch(/^✓ secrets: /m);
    expect(out).not.toContain('✗');
    expect(exitCode).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('opens an existing store and says what is in it', async () => {
    const store = await openSqliteStore({ path: join(folder, 'p.db'), thread: false });
    await store.close();
    const { exitCode, out } = await doctor();
    expect(out).toMatch(
      /^✓ store: .* opens and can be written \(schema up to date; 0 waiting, 0 held, 0 dead letters\)$/m,
    );
    expect(exitCode).toBe(0);
  });

  it('says who has the store', async () => {
    const lock = await lockAsAnother(join(folder, 'p.db'));
    try {
      const { exitCode, out } = await doctor();
      expect(out).toMatch(/^✗ store: .*\n {4}.*is in use by another Posthorn/m);
      expect(out).toContain('1 to mend before Posthorn can start.');
      expect(exitCode).toBe(1);
    } finally {
      lock.close();
    }
  });

  it('recognises the server that runs with this file at this port, and says nothing of its guard', async () => {
    const lock = await lockAsAnother(join(folder, 'p.db'));
    const store = await openMemoryStore();
    const server = createServer({ resources: {} as Resources, store, clock: systemClock, logger: false });
    try {
      await server.listen({ host: '127.0.0.1', port: 0 });
      const { port } = server.server.address() as AddressInfo;
      const env = { POSTHORN_PORT: String(port) };
      const { exitCode, out } = await doctor(env);
      expect(out).toMatch(/^✓ running: Posthorn runs here already, with .*p\.db and on http:\S+, pid 4711: healthy$/m);
      expect(out).not.toMatch(/^. (port|guard|secrets):|✗/m);
      expect(out).toMatch(/\nPosthorn runs\.\n$/);
      expect(exitCode).toBe(0);

      const other = await doctor({ ...env, POSTHORN_STORE: `sqlite:${join(folder, 'other.db')}` });
      expect(other.out).toMatch(/^✗ port: /m);
      expect(other.exitCode).toBe(1);
      expect(existsSync(join(folder, 'other.db'))).toBe(false);
    } finally {
      await server.close();
      await store.close();
      lock.close();
    }
  });

  it('says that the server that runs is not healthy', async () => {
    const store = await openSqliteStore({ path: join(folder, 'p.db'), thread: false });
    const broken = { ...store, counts: () => Promise.reject(new Error('the disk is gone')) };
    const server = createServer({ resources: {} as Resources, store: broken, clock: systemClock, logger: false });
    try {
      await server.listen({ host: '127.0.0.1', port: 0 });
      const { port } = server.server.address() as AddressInfo;
      const { exitCode, out } = await doctor({ POSTHORN_PORT: String(port) });
      expect(out).toMatch(/^✗ running: .*: not healthy\n {4}\/health answers 503/m);
      expect(exitCode).toBe(1);
    } finally {
      await server.close();
      await store.close();
    }
  });

  it('leaves a file alone that is not a database', async () => {
    writeFileSync(join(folder, 'p.db'), 'my novel, chapter one');
    const { exitCode, out } = await doctor();
    expect(out).toMatch(/^✗ store: .* is not a SQLite file$/m);
    expect(exitCode).toBe(1);
  });

  it('names a folder that is not there', async () => {
    const { exitCode, out } = await doctor({ POSTHORN_STORE: `sqlite:${join(folder, 'no/such/p.db')}` });
    expect(out).toMatch(/^✗ store: the folder .*no\/such cannot be written to$/m);
    expect(exitCode).toBe(1);
  });

  it('finds a port that is taken', async () => {
    const other = createHttpServer();
    await new Promise<void>((done) => void other.listen(0, '127.0.0.1', done));
    const { port } = other.address() as AddressInfo;
    const { exitCode, out } = await doctor({ POSTHORN_PORT: String(port) });
    await new Promise((done) => other.close(done));
    expect(out).toMatch(/^✗ port: 127\.0\.0\.1:\d+ is in use\n {4}.*POSTHORN_PORT/m);
    expect(exitCode).toBe(1);
  });

  it('shows every wrong setting and stops there', async () => {
    const { exitCode, out } = await doctor({ POSTHORN_PORT: 'x', POSTHORN_LOG_LEVEL: 'loud' });
    expect(out).toMatch(/^✗ configuration: The configuration is wrong in 2 places/m);
    expect(out).not.toContain('store:');
    expect(exitCode).toBe(1);
  });

  it('points at settings that open the network or keep nothing', async () => {
    const { exitCode, out } = await doctor({
      POSTHORN_ALLOW_NETWORKS: '0.0.0.0/0',
      POSTHORN_STORE: 'sqlite::memory:',
    });
    expect(out).toMatch(/^! guard: .*0\.0\.0\.0\/0\n {4}That is every address/m);
    expect(out).toMatch(/^! store: in memory\n {4}Everything is forgotten/m);
    expect(exitCode).toBe(0);
  });
});
