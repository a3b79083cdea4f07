// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { parentFolderFor } from './reachable.mjs';

/**
 * Waits at the end of a pipe that only its owner holds. When the pipe closes, because the owner is done or because it was
 * killed, the server that it last heard of is ended and the folder removed. A server that has become a zombie nobody
 * reaps still answers to kill -0, hence the bound.
 */
const GUARD = `
pid=-
while read -r line; do pid=$line; done
if [ "$pid" != - ] && kill -s "$2" "$pid" 2>/dev/null; then
  tries=0
  while kill -0 "$pid" 2>/dev/null && [ $tries -lt 60 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -s KILL "$pid" 2>/dev/null
fi
rm -rf "$1"
`;

/**
 * A new folder for the data of one server that outlives neither its owner nor a SIGKILL of it.
 *
 * @param {{ name: string, parent?: string | undefined, user?: { uid: number, gid: number } | undefined, endSignal: string }} options
 *   `endSignal` without SIG: what ends the server at once.
 */
export function createGuardedFolder({ name, parent, user, endSignal }) {
  const path = mkdtempSync(join(parentFolderFor(user, parent), `posthorn-${name}-`));
  if (user !== undefined) chownSync(path, user.uid, user.gid);
  // In a session of its own: Ctrl-C reaches the whole group of the terminal, and this one has work to do afterwards.
  const guard = spawn('sh', ['-c', GUARD, 'sh', path, endSignal], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.stdin.on('error', () => {});
  guard.unref();
  const gone = once(guard, 'exit');
  return {
    path,
    /** @param {number | undefined} pid Of the server that runs on it now, if one does. */
    note(pid) {
      guard.stdin.write(`${pid ?? '-'}\n`);
    },
    /** The guard does it, as it would if this process were killed: there is one way, and every run takes it. */
    async remove() {
      guard.ref();
      guard.stdin.end();
      await gone;
    },
  };
}
