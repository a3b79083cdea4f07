// The servers that contestants need: each measurement has its own, empty and durable, by the same code as the tests'.
import { Redis } from 'ioredis';
import pg from 'pg';
import { findPostgres, findRedis } from '../scripts/services/find-programs.mjs';
import { startPostgres as startOwnPostgres } from '../scripts/services/start-postgres.mjs';
import { startRedis as startOwnRedis } from '../scripts/services/start-redis.mjs';
import { familyUsage, peakRssOf } from './usage.mjs';

/** The defaults are for a small machine of long ago. Durability is as it comes: fsync and synchronous_commit on. */
const POSTGRES_SETTINGS = {
  shared_buffers: '256MB',
  min_wal_size: '1GB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
};

/**
 * Makes a new server like one that has run for days: the memory of its buffers has been used, and its log goes into files
 * that are there. Both are slow once, in the first minutes of its life, and took a third of its time in a measurement.
 */
const SETTLE = `
  CREATE UNLOGGED TABLE filler (page text);
  ALTER TABLE filler ALTER page SET STORAGE PLAIN;
  INSERT INTO filler SELECT repeat('x', 8000) FROM generate_series(1, 32768);
  DROP TABLE filler;
  SELECT pg_logical_emit_message(false, 'filler', repeat('x', 16 * 1024 * 1024)) FROM generate_series(1, 40);
  CHECKPOINT;
`;

export function hasRedis() {
  return isThere(findRedis);
}

export function hasPostgres() {
  return isThere(findPostgres);
}

function isThere(find) {
  try {
    return find() !== undefined;
  } catch {
    return false;
  }
}

/** Append-only; `appendfsync` is how often it syncs. */
export async function startRedis(processes, appendfsync) {
  const server = await startOwnRedis({ appendOnly: appendfsync, parent: processes.folder });
  const forget = processes.adopt(server);
  const client = new Redis(server.url, { retryStrategy: () => null });
  client.on('error', () => {});
  return {
    url: server.url,
    /** CPU of the server and its helpers (an append-only file is rewritten in a child process). */
    async usage() {
      const info = await client.info();
      const read = (name) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1] ?? 0);
      const cpuNames = ['used_cpu_user', 'used_cpu_sys', 'used_cpu_user_children', 'used_cpu_sys_children'];
      return {
        cpuS: cpuNames.reduce((sum, name) => sum + read(name), 0),
        peakRssBytes: peakRssOf(server.pid()) ?? read('used_memory_rss'),
      };
    },
    async stop() {
      client.disconnect();
      await server.stop();
      forget();
    },
  };
}

export async function startPostgres(processes, settings = {}) {
  const server = await startOwnPostgres({ settings: { ...POSTGRES_SETTINGS, ...settings }, parent: processes.folder });
  const forget = processes.adopt(server);
  const stop = async () => {
    await server.stop();
    forget();
  };
  try {
    await settle(server.url);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: server.url, usage: async () => familyUsage(server.pid()), stop };
}

async function settle(connectionString) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (const statement of SETTLE.split(';').slice(0, -1)) await client.query(statement);
  } finally {
    await client.end();
  }
}
