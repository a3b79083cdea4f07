import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, root, runNode, say } from './steps.mjs';

const LOCK = join(root, 'package-lock.json');
/** npm writes this at the end of an install: without it an install was interrupted, or never made. */
const INSTALLED = join(root, 'node_modules', '.package-lock.json');
/** Which lock file the installed packages came from. */
const STAMP = join(root, 'node_modules', '.posthorn-installed');

export async function ensureInstalled() {
  const wanted = createHash('sha256').update(readFileSync(LOCK)).digest('hex');
  if (isInstalled(wanted)) return;

  say('installing dependencies (npm ci) …');
  // No dependency needs an install script, so none is allowed to run. NODE_ENV=production would leave out the compiler.
  const exitCode = await npm([
    'ci',
    '--include=dev',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]);
  if (exitCode !== 0) fail('npm ci failed: see its message above.', exitCode);
  writeFileSync(STAMP, wanted);
}

function isInstalled(wanted) {
  const installedAt = modifiedAt(INSTALLED);
  if (installedAt === undefined) return false;
  const stamp = readOr(STAMP, undefined);
  // Installed by hand: trusted when it is newer than the lock file.
  return stamp === undefined ? installedAt >= modifiedAt(LOCK) : stamp === wanted;
}

/** npm names its own program to the scripts that it runs; started without npm, the one on the PATH has to do. */
export function npm(args) {
  const program = process.env.npm_execpath;
  if (program?.endsWith('.js')) return runNode(program, args);
  const { status, error } = spawnSync('npm', args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (error) fail(`cannot run npm: ${error.message}`);
  return status ?? 1;
}

function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function readOr(path, fallback) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return fallback;
  }
}
