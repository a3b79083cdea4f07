import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { peakRssOf } from './usage.mjs';

const READY_MS = 10_000;

export function hasRedis() {
  return spawnSync('redis-server', ['--version']).status === 0;
}

/** A Redis of its own for one measurement, empty, append-only, on a free loopback port. */
export async function startRedis(processes, appendfsync) {
  const folder = processes.newFolder('redis');
  const port = await freePort();
  const settings = { port, bind: '127.0.0.1', dir: folder, appendonly: 'yes', appendfsync, save: '' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = processes.spawn('redis-server', args);
  let output = '';
  server.stdout.on('data', (chunk) => {
    output = (output + chunk).slice(-2000);
  });
  const client = new Redis({ host: '127.0.0.1', port, lazyConnect: true, retryStrategy: () => 50 });
  client.on('error', () => {});
  try {
    await ready(client, server, () => output);
  } catch (error) {
    client.disconnect();
    await processes.stop(server);
    throw error;
  }
  return {
    port,
    /** CPU of the server and its helpers (an append-only file is rewritten in a child process). */
    async usage() {
      const info = await client.info();
      const read = (name) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1] ?? 0);
      const cpuNames = ['used_cpu_user', 'used_cpu_sys', 'used_cpu_user_children', 'used_cpu_sys_children'];
      return {
        cpuS: cpuNames.reduce((sum, name) => sum + read(name), 0),
        peakRssBytes: peakRssOf(server.pid) ?? read('used_memory_rss'),
      };
    },
    async stop() {
      client.disconnect();
      await processes.stop(server);
      processes.removeFolder(folder);
    },
  };
}

async function ready(client, server, output) {
  const ended = once(server, 'exit').then(() => {
    throw new Error(`redis-server ended at once:\n${output()}`);
  });
  const late = new Promise((_, reject) => {
    setTimeout(() => reject(new Error('redis-server is not ready after 10 s')), READY_MS).unref();
  });
  await Promise.race([client.ping(), ended, late]);
  // From here on an end is no surprise: whoever measures stops it.
  ended.catch(() => {});
}

async function freePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
