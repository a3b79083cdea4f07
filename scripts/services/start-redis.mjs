// @ts-check
import { findRedis } from './find-programs.mjs';
import { startServer } from './server.mjs';
import { unprivilegedUser } from './unprivileged-user.mjs';

/**
 * A Redis of its own on a free loopback port, empty, without a password.
 *
 * @param {{ appendOnly?: 'always' | 'everysec' | 'no' | undefined, settings?: Record<string, string | number>, parent?: string }} [options]
 *   `appendOnly`: how often what was written is synced to disk; without it nothing survives a restart.
 */
export function startRedis({ appendOnly, settings = {}, parent } = {}) {
  const { redisServer, env } = findRedis();
  const all = {
    bind: '127.0.0.1',
    save: '',
    appendonly: appendOnly === undefined ? 'no' : 'yes',
    appendfsync: appendOnly ?? 'no',
    'maxmemory-policy': 'noeviction',
    ...settings,
  };
  return startServer({
    name: 'redis',
    program: redisServer,
    args: (folder, port) =>
      Object.entries({ ...all, dir: folder, port }).flatMap(([name, value]) => [`--${name}`, String(value)]),
    env,
    user: unprivilegedUser(),
    ready: /Ready to accept connections/,
    busy: /Address already in use/i,
    endSignal: 'SIGTERM',
    haltSignal: 'SIGKILL',
    url: (port) => `redis://127.0.0.1:${port}`,
    parent,
  });
}
