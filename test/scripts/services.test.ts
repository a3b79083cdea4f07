/** The servers that tests get: real ones, started and taken away by scripts/services. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Cluster, Redis } from 'ioredis';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startPostgres, startRedis, startRedisCluster } from '../../src/testing/servers.ts';

const SERVICES = fileURLToPath(new URL('../../scripts/services.mjs', import.meta.url));
const START_REDIS = new URL('../../scripts/services/start-redis.mjs', import.meta.url).href;

interface Services {
  readonly child: ChildProcess;
  readonly addresses: Addresses;
  printed(): string;
}

type Addresses = Record<'POSTHORN_TEST_POSTGRES_URL' | 'POSTHORN_TEST_REDIS_URL', string>;

/** The temporary folder of the programs under test: what is left in it was left by them. */
let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'services-test-'));
  // As root, the servers run as another user, who has to get in.
  chmodSync(temporary, 0o755);
});
afterEach(() => rmSync(temporary, { recursive: true, force: true }));

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query({ text: sql, rowMode: 'array' });
  await client.end();
  return rows[0]?.[0];
}

async function tell(url: string, command: string, ...args: string[]): Promise<unknown> {
  const client = new Redis(url, {
    lazyConnect: true,
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: () => null,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.call(command, args);
  } finally {
    client.disconnect();
  }
}

async function startServices(env: Record<string, string> = {}): Promise<Services> {
  const { POSTHORN_TEST_POSTGRES_URL: _, POSTHORN_TEST_REDIS_URL: __, ...rest } = process.env;
  const child = fork(SERVICES, { env: { ...rest, TMPDIR: temporary, ...env }, silent: true });
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [addresses] = (await once(child, 'message')) as [Addresses];
  return { child, addresses, printed: () => output };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('scripts/services.mjs', () => {
  it('starts PostgreSQL and Redis when they are first spoken to, and not before', async () => {
    const { addresses } = await startServices();
    expect(readdirSync(temporary)).toEqual([]);
    expect(await tell(addresses.POSTHORN_TEST_REDIS_URL, 'PING')).toBe('PONG');
    expect(readdirSync(temporary)).toEqual([expect.stringMatching(/^posthorn-redis-/)]);
    expect(await ask(addresses.POSTHORN_TEST_POSTGRES_URL, 'SELECT 41 + 1')).toBe(42);
    expect(await ask(addresses.POSTHORN_TEST_POSTGRES_URL, 'SHOW listen_addresses')).toBe('127.0.0.1');
  });

  it('answers many who come while a server is starting', async () => {
    const { addresses } = await startServices();
    const url = addresses.POSTHORN_TEST_POSTGRES_URL;
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url, 'SELECT pg_postmaster_start_time()')));
    expect(new Set(answers.map(String)).size).toBe(1);
  });

  it.each(['disconnect', 'SIGTERM', 'SIGKILL'] as const)(
    'leaves no process and no folder behind after %s',
    async (how) => {
      const { child, addresses } = await startServices();
      await tell(addresses.POSTHORN_TEST_REDIS_URL, 'PING');
      const info = String(await tell(addresses.POSTHORN_TEST_REDIS_URL, 'INFO', 'server'));
      const data = String(await ask(addresses.POSTHORN_TEST_POSTGRES_URL, 'SHOW data_directory'));
      const pids = [
        Number(/process_id:(\d+)/.exec(info)?.[1]),
        Number(
          await ask(
            addresses.POSTHORN_TEST_POSTGRES_URL,
            `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)`,
          ),
        ),
      ];
      expect(pids.map(isAlive)).toEqual([true, true]);
      expect(existsSync(data)).toBe(true);
      if (how === 'disconnect') child.disconnect();
      else child.kill(how);
      await vi.waitFor(() => expect([...pids.filter(isAlive), ...readdirSync(temporary)]).toEqual([]), {
        timeout: 15_000,
        interval: 50,
      });
    },
  );

  it('uses servers that the environment names as they are, and starts none in their place', async () => {
    const { child, addresses } = await startServices({
      POSTHORN_TEST_POSTGRES_URL: 'postgres://elsewhere',
      POSTHORN_TEST_REDIS_URL: 'redis://elsewhere',
    });
    expect(addresses).toEqual({});
    child.disconnect();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('fails a test with what to install when a program is missing', async () => {
    const { addresses, printed } = await startServices({ PATH: temporary, POSTHORN_TEST_PROGRAMS: temporary });
    await expect(tell(addresses.POSTHORN_TEST_REDIS_URL, 'PING')).rejects.toThrow(/apt-get install redis-server/);
    expect(printed()).toContain('posthorn: redis-server is not on this machine.');
  });

  it('hands the addresses to every test file', async () => {
    expect(await ask(process.env.POSTHORN_TEST_POSTGRES_URL ?? '', 'SELECT 1')).toBe(1);
    expect(await tell(process.env.POSTHORN_TEST_REDIS_URL ?? '', 'PING')).toBe('PONG');
  });
});

describe('startRedis', () => {
  it('keeps what an append-only Redis was told through a kill and a restart, on the same port', async () => {
    const redis = await startRedis({ appendOnly: 'always' });
    onTestFinished(() => redis.stop());
    await tell(redis.url, 'SET', 'kept', 'yes');
    await redis.kill();
    expect(redis.pid()).toBeUndefined();
    await expect(tell(redis.url, 'GET', 'kept')).rejects.toThrow();
    await redis.restart();
    expect(await tell(redis.url, 'GET', 'kept')).toBe('yes');
    await redis.stop();
    expect(existsSync(redis.folder)).toBe(false);
  });

  it('is gone with the process that started it, even when that is killed', async () => {
    const code = `import { startRedis } from ${JSON.stringify(START_REDIS)};
      const { pid, folder } = await startRedis(); console.log(pid(), folder);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface(owner.stdout), 'line')) as [string];
    const [pid = '', folder = ''] = line.split(' ');
    expect([isAlive(Number(pid)), existsSync(folder)]).toEqual([true, true]);
    owner.kill('SIGKILL');
    await vi.waitFor(() => expect([isAlive(Number(pid)), existsSync(folder)]).toEqual([false, false]), {
      timeout: 15_000,
      interval: 50,
    });
  });
});

describe('startPostgres', () => {
  it('keeps what was committed through a kill and a restart, on the same port, and syncs to disk', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    expect(await ask(postgres.url, 'SHOW fsync')).toBe('on');
    await ask(postgres.url, 'CREATE TABLE kept AS SELECT 7 AS seven');
    await postgres.kill();
    await expect(ask(postgres.url, 'SELECT 1')).rejects.toThrow();
    await postgres.restart();
    expect(await ask(postgres.url, 'SELECT seven FROM kept')).toBe(7);
    await postgres.stop();
    expect(existsSync(postgres.folder)).toBe(false);
  });

  it('takes settings', async () => {
    const postgres = await startPostgres({ fsync: false, settings: { max_connections: 17 } });
    onTestFinished(() => postgres.stop());
    expect(await ask(postgres.url, 'SHOW max_connections')).toBe('17');
  });
});

describe('startRedisCluster', () => {
  it('forms a cluster of three that refuses keys of two slots in one command', async () => {
    const cluster = await startRedisCluster();
    onTestFinished(() => cluster.stop());
    const client = new Cluster([...cluster.urls]);
    onTestFinished(() => client.disconnect());
    for (let index = 0; index < 30; index++) await client.set(`key${index}`, String(index));
    expect(await client.get('key29')).toBe('29');
    await expect(client.mget('key1', 'key2', 'key3')).rejects.toThrow(/slot/i);
    const holders = await Promise.all(client.nodes('master').map((node) => node.dbsize()));
    expect(holders.filter((keys) => keys > 0)).toHaveLength(3);
  });
});
