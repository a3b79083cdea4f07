// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findPostgres } from './find-programs.mjs';
import { startServer } from './server.mjs';
import { unprivilegedUser } from './unprivileged-user.mjs';

/**
 * A PostgreSQL of its own on a free loopback port, empty, without a password.
 *
 * Durable unless told otherwise, as in production. Without fsync a commit still survives SIGKILL, since the system has the
 * bytes then: that is enough for a server that only lives as long as the tests, and it saves them most of their time.
 *
 * @param {{ fsync?: boolean, settings?: Record<string, string | number>, parent?: string }} [options]
 */
export function startPostgres({ fsync = true, settings = {}, parent } = {}) {
  const { initdb, postgres, env } = findPostgres();
  const user = unprivilegedUser();
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    fsync: fsync ? 'on' : 'off',
    synchronous_commit: 'on',
    ...settings,
  };
  return startServer({
    name: 'postgres',
    program: postgres,
    args: (folder, port) => [
      '-D',
      dataIn(folder),
      ...Object.entries({ ...all, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    env,
    user,
    ready: /database system is ready to accept connections/,
    busy: /could not bind|Address already in use|pre-existing shared memory block|is another postmaster/i,
    endSignal: 'SIGINT',
    haltSignal: 'SIGQUIT',
    prepare: (folder) => runInitdb(initdb, dataIn(folder), { env, user }),
    url: (port) => `postgres://posthorn@127.0.0.1:${port}/postgres`,
    parent,
  });
}

/** PostgreSQL wants a folder that it has made itself. @param {string} folder */
function dataIn(folder) {
  return join(folder, 'data');
}

/**
 * @param {string} initdb
 * @param {string} data
 * @param {{ env: Record<string, string>, user: { uid: number, gid: number } | undefined }} as
 */
async function runInitdb(initdb, data, { env, user }) {
  const args = ['-D', data, '-U', 'posthorn', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  const child = spawn(initdb, args, {
    cwd: '/',
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${initdb} failed:\n${output.trim()}`);
}
