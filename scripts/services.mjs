// @ts-check
// Throw-away PostgreSQL and Redis for the tests, on loopback, each started when it is first spoken to. vitest runs this
// beside the tests; by hand (`node scripts/services.mjs`) it prints the addresses and keeps them until Ctrl-C.
// A server that the environment names already is used as it is, and nothing is started in its place.
import { openLazyPort } from './services/lazy-port.mjs';
import { startPostgres } from './services/start-postgres.mjs';
import { startRedis } from './services/start-redis.mjs';
import { say } from './steps.mjs';

const { POSTHORN_TEST_POSTGRES_URL, POSTHORN_TEST_REDIS_URL } = process.env;
/** @type {Record<string, string>} */
const addresses = {};
/** @type {{ close(): Promise<void> }[]} */
const doors = [];

if (POSTHORN_TEST_POSTGRES_URL === undefined) {
  const door = await openLazyPort(() => loudly(startPostgres, { fsync: false }), postgresRefusal);
  doors.push(door);
  addresses.POSTHORN_TEST_POSTGRES_IS_OURS = '1';
  addresses.POSTHORN_TEST_POSTGRES_URL = `postgres://posthorn@127.0.0.1:${door.port}/postgres`;
}
if (POSTHORN_TEST_REDIS_URL === undefined) {
  const door = await openLazyPort(() => loudly(startRedis, {}), redisRefusal);
  doors.push(door);
  addresses.POSTHORN_TEST_REDIS_URL = `redis://127.0.0.1:${door.port}`;
}

let ending = false;
async function end() {
  if (ending) return;
  ending = true;
  await Promise.all(doors.map((door) => door.close()));
  process.exit();
}

process.on('SIGTERM', end);
if (process.send === undefined) {
  for (const [name, value] of Object.entries(addresses)) say(`export ${name}=${value}`);
  process.on('SIGINT', end);
} else {
  // Ctrl-C reaches us as well as the tests: they end first, and we with them.
  process.on('SIGINT', () => {});
  process.on('disconnect', end);
  process.send(addresses);
}

/**
 * Not every client passes on why it was refused.
 *
 * @template T, S
 * @param {(options: T) => Promise<S>} start
 * @param {T} options
 */
async function loudly(start, options) {
  try {
    return await start(options);
  } catch (error) {
    process.stderr.write(`posthorn: ${error instanceof Error ? error.message : error}\n`);
    throw error;
  }
}

/** ErrorResponse of PostgreSQL's protocol. @param {string} why */
function postgresRefusal(why) {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C57P03\0M${why}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** @param {string} why */
function redisRefusal(why) {
  return Buffer.from(`-ERR ${why.replaceAll(/\s+/g, ' ')}\r\n`);
}
