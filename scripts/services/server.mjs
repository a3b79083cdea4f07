// @ts-check
// One server process on loopback: started, killed and started again on the same data and port, and taken away.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.mjs';
import { createGuardedFolder } from './guarded-folder.mjs';

const READY_MS = 30_000;
const END_MS = 10_000;
const TRIES = 40;
const RETRY_MS = 250;

/**
 * @typedef {object} Definition
 * @property {string} name
 * @property {string} program
 * @property {(folder: string, port: number) => string[]} args
 * @property {Record<string, string>} [env]
 * @property {{ uid: number, gid: number } | undefined} [user] Whose process it is, when not ours.
 * @property {RegExp} ready What it prints when it takes connections.
 * @property {RegExp} busy What it prints when its port, or what a killed one left behind, is not free yet.
 * @property {NodeJS.Signals} endSignal Ends it in order.
 * @property {NodeJS.Signals} haltSignal Ends it at once, without leaving children behind.
 * @property {(folder: string) => Promise<void>} [prepare] Before the first start.
 * @property {(port: number) => string} url
 * @property {string | undefined} [parent] The folder that its own is made in; the system's temporary folder without it.
 *
 * @typedef {object} Server
 * @property {string} url
 * @property {number} port
 * @property {string} folder
 * @property {() => number | undefined} pid Undefined while it is down.
 * @property {(signal?: NodeJS.Signals) => Promise<void>} kill Ends the process, SIGKILL without a name; its data stays.
 * @property {() => Promise<void>} restart On the data and the port that it had, after `kill`.
 * @property {() => Promise<void>} stop Ends it and removes its data. May be called twice.
 */

/**
 * @param {Definition} definition
 * @returns {Promise<Server>}
 */
export async function startServer(definition) {
  const { name, user, parent, haltSignal } = definition;
  const folder = createGuardedFolder({ name, parent, user, endSignal: haltSignal.slice('SIG'.length) });
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let child;
  let port = 0;

  /** @param {() => Promise<number>} choosePort */
  async function start(choosePort) {
    for (let left = TRIES; ; left--) {
      port = await choosePort();
      const started = spawnServer(definition, folder.path, port);
      folder.note(started.pid);
      started.once('exit', () => folder.note(undefined));
      const output = await ready(started, definition);
      child = started;
      if (output === undefined) return;
      if (left === 0 || !definition.busy.test(output)) throw new Error(`${name} ended at once:\n${output}`);
      await sleep(RETRY_MS);
    }
  }

  /** @param {NodeJS.Signals} signal */
  async function end(signal) {
    if (child === undefined || hasEnded(child)) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    const late = setTimeout(() => child?.kill('SIGKILL'), END_MS);
    await gone;
    clearTimeout(late);
  }

  try {
    await definition.prepare?.(folder.path);
    await start(freePort);
  } catch (error) {
    await end(haltSignal);
    await folder.remove();
    throw error;
  }

  /** @type {Promise<void> | undefined} */
  let stopped;
  return {
    url: definition.url(port),
    port,
    folder: folder.path,
    pid: () => (child === undefined || hasEnded(child) ? undefined : child.pid),
    kill: (signal = 'SIGKILL') => end(signal),
    restart: () => start(async () => port),
    stop() {
      stopped ??= end(definition.endSignal).then(() => folder.remove());
      return stopped;
    },
  };
}

/**
 * @param {Definition} definition
 * @param {string} folder
 * @param {number} port
 */
function spawnServer({ program, args, env, user }, folder, port) {
  return spawn(program, args(folder, port), {
    // Whoever started the tests may be in a folder, and have PG… variables set, that mean nothing to this server.
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC', ...env },
    // Out of the terminal's group: on Ctrl-C the tests end first, and the servers after them.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  });
}

/**
 * Resolves with nothing when it takes connections, and with what it printed when it ended before.
 *
 * @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, import('node:stream').Readable>} child
 * @param {Definition} definition
 * @returns {Promise<string | undefined>}
 */
function ready(child, { name, program, ready }) {
  let output = '';
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${name} is not ready after ${READY_MS / 1000} s:\n${output}`));
    }, READY_MS);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (chunk) => {
        output = (output + chunk).slice(-4000);
        if (ready.test(output)) done(undefined);
      });
    }
    child.once('error', (error) => {
      clearTimeout(late);
      reject(new Error(`${program} cannot be started: ${error.message}`));
    });
    child.once('exit', () => setImmediate(() => done(output)));
    /** @param {string | undefined} result */
    function done(result) {
      clearTimeout(late);
      resolve(result);
    }
  });
}

/** @param {import('node:child_process').ChildProcess} child */
function hasEnded(child) {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}
