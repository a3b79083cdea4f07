// What every script here needs. Plain Node, no packages: node_modules may not be there yet.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const ORPHAN_CHECK_MS = 500;

export const root = fileURLToPath(new URL('..', import.meta.url));

export function say(line) {
  process.stdout.write(`posthorn: ${line}\n`);
}

/** Ends the script with one line for a person. */
export function fail(line, exitCode = 1) {
  process.stderr.write(`posthorn: ${line}\n`);
  process.exit(exitCode);
}

/**
 * Runs a program of Node's in the repository and gives its exit code, 128 + n when signal n ended it. What this script
 * is told to stop with, the program is told too: nothing is left behind when npm is stopped.
 */
export function runNode(script, args = [], { onStart = () => {}, ...options } = {}) {
  const child = spawn(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit', ...options });
  if (child.pid !== undefined) onStart(child);
  const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => {
    const forward = () => child.kill(signal);
    process.on(signal, forward);
    return () => process.off(signal, forward);
  });
  // A signal to npm ends the shell between npm and us without a word to us: we see it by our parent being gone.
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill('SIGTERM');
  }, ORPHAN_CHECK_MS);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const stop of forwarded) stop();
      clearInterval(watch);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/** The program of an installed package, by its path: no shell, no .bin links, the same on every system. */
export function bin(path) {
  return fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));
}
