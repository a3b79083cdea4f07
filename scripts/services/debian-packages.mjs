// @ts-check
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Unpacks a Debian package, with what it needs and the machine does not have, into a folder. Nothing is installed and no
 * right is needed: apt works on folders of its own here, and the packages' scripts, which would start a server, never run.
 *
 * @param {string} name
 * @param {string} folder
 */
export function unpackDebianPackage(name, folder) {
  const work = `${folder}.partial`;
  rmSync(work, { recursive: true, force: true });
  for (const each of ['lists/partial', 'archives/partial', 'root']) mkdirSync(join(work, each), { recursive: true });
  try {
    const apt = aptOptions(work);
    run('apt-get', [...apt, 'update']);
    run('apt-get', [...apt, 'install', '--yes', '--no-install-recommends', '--download-only', name]);
    const archives = join(work, 'archives');
    for (const file of readdirSync(archives).filter((each) => each.endsWith('.deb'))) {
      run('dpkg', ['-x', join(archives, file), join(work, 'root')]);
    }
    // In one step: an interrupted fetch is never taken for a finished one.
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(work, 'root'), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** @param {string} work */
function aptOptions(work) {
  const options = [
    `Dir::State::lists=${join(work, 'lists')}`,
    `Dir::Cache=${work}`,
    `Dir::Cache::archives=${join(work, 'archives')}`,
    'Debug::NoLocking=true',
    'APT::Sandbox::User=root',
    'Acquire::Languages=none',
  ];
  return ['-qq', ...options.flatMap((option) => ['-o', option])];
}

/** @param {string} program @param {string[]} args */
function run(program, args) {
  const { status, error, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
  });
  if (status === 0) return;
  throw new Error(`${program}: ${(error?.message ?? stderr).trim().split('\n').at(-1)}`);
}
