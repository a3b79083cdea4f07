/** What `posthorn doctor` looks at, one check after the other. A check answers; what it cannot find out is bad. */
import { constants } from 'node:fs';
import { access, open, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../clock.ts';
import { type Config, loadConfig, parseStoreUrl } from '../config/index.ts';
import { describeError } from '../errors.ts';
import { formatDuration } from '../policy/index.ts';
import { openSqliteStore } from '../store/sqlite/index.ts';
import { checkPostgres } from './check-postgres.ts';
import { checkRedis } from './check-redis.ts';
import { checkRunning } from './check-running.ts';
import { bad, describeCounts, type Finding, good, notice } from './findings.ts';
import { readPackageFile } from './package-file.ts';
import type { Terminal } from './terminal.ts';

const LEAST_FREE_BYTES = 100 * 1024 * 1024;
const SCARCE_FREE_BYTES = 1024 * 1024 * 1024;
const SQLITE_MAGIC = 'SQLite format 3\0';

export async function* runChecks(terminal: Terminal): AsyncGenerator<Finding> {
  yield checkNode(process.versions.node);
  yield await checkClock(terminal.clock.now());
  let config: Config;
  try {
    config = loadConfig({ env: terminal.env });
  } catch (error) {
    yield bad('configuration', describeError(error), 'Mend these first; the other checks need them.');
    return;
  }
  yield good('configuration', 'every setting is allowed (`posthorn config` lists them)');
  const file = fileOf(config.store);
  const running = file === undefined ? undefined : await checkRunning(config, file, terminal.clock);
  if (file !== undefined && running !== undefined) {
    yield running;
    yield await checkDisk(dirname(resolve(file)));
    yield* checkRedis(config);
    // Which networks it lets through and whether it has a key, only its own settings say; these may be others.
    return;
  }
  yield* checkStore(config.store, terminal.clock);
  yield* checkRedis(config);
  yield await checkPort(config.host, config.port);
  yield checkGuard(config.allowNetworks);
  yield checkSecretKey(config.secretKey);
}

function checkNode(version: string): Finding {
  const least = readPackageFile().engines.node.replace('>=', '');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  const fits = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  return fits ? good('Node', version) : bad('Node', `${version} is too old`, `Install Node ${least} or newer.`);
}

/** Signatures carry the time, and receivers refuse what is minutes off. A clock behind our own files is surely wrong. */
async function checkClock(now: number): Promise<Finding> {
  const { mtimeMs } = await stat(fileURLToPath(import.meta.url));
  const time = new Date(now).toISOString();
  if (now >= mtimeMs - 60_000) return good('clock', time);
  const behind = formatDuration(mtimeMs - now);
  return bad('clock', `${time}, which is ${behind} before this program was installed`, 'Set the clock (NTP does it).');
}

function fileOf(url: string): string | undefined {
  const parsed = parseStoreUrl(url);
  return 'value' in parsed && parsed.value.kind === 'sqlite' ? parsed.value.path : undefined;
}

async function* checkStore(url: string, clock: Clock): AsyncGenerator<Finding> {
  const parsed = parseStoreUrl(url);
  if ('refused' in parsed) return;
  if (parsed.value.kind === 'postgres') {
    yield* checkPostgres(parsed.value.url, clock);
    return;
  }
  const { path } = parsed.value;
  if (path === ':memory:') {
    yield notice('store', 'in memory', 'Everything is forgotten when it stops; POSTHORN_STORE=sqlite:<file> keeps it.');
    return;
  }
  const folder = dirname(resolve(path));
  yield await checkFile(path, folder);
  yield await checkDisk(folder);
}

async function checkFile(path: string, folder: string): Promise<Finding> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch {
    return bad(
      'store',
      `the folder ${folder} cannot be written to`,
      'Create it, or change its owner or POSTHORN_STORE.',
    );
  }
  const file = await looksLike(path);
  if (file === 'missing') return good('store', `${path} will be created at the first start`);
  if (file === 'unreadable') return bad('store', `${path} cannot be read`, 'Change its owner, or POSTHORN_STORE.');
  if (file === 'foreign') {
    return bad('store', `${path} is not a SQLite file`, 'Name another file in POSTHORN_STORE; this one is left alone.');
  }
  try {
    // Opening brings the schema up to date, or refuses one that a newer version wrote.
    const store = await openSqliteStore({ path, thread: false });
    const counts = await store.counts({ most: 10_000 });
    await store.close();
    return good('store', `${path} opens and can be written (schema up to date; ${describeCounts(counts)})`);
  } catch (error) {
    return bad('store', `${path} does not open`, describeError(error));
  }
}

async function looksLike(path: string): Promise<'missing' | 'unreadable' | 'foreign' | 'sqlite'> {
  try {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(SQLITE_MAGIC.length), 0, SQLITE_MAGIC.length, 0);
      // An empty file is what SQLite makes of a database before its first write.
      return bytesRead === 0 || buffer.toString('latin1') === SQLITE_MAGIC ? 'sqlite' : 'foreign';
    } finally {
      await file.close();
    }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'unreadable';
  }
}

async function checkDisk(folder: string): Promise<Finding> {
  try {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const found = `${Math.floor(free / 1024 / 1024)} MB free in ${folder}`;
    if (free < LEAST_FREE_BYTES) return bad('disk', found, 'Free at least 100 MB: a full disk refuses new messages.');
    if (free < SCARCE_FREE_BYTES) return notice('disk', found, 'Enough to start; watch it.');
    return good('disk', found);
  } catch (error) {
    return bad('disk', `cannot be asked for its free space (${describeError(error)})`, 'Does the folder exist?');
  }
}

async function checkPort(host: string, port: number): Promise<Finding> {
  const probe = createServer();
  try {
    await new Promise<void>((done, failed) => {
      probe.once('error', failed);
      probe.listen({ host, port, exclusive: true }, done);
    });
    return good('port', port === 0 ? 'a free one will be picked' : `${host}:${port} is free`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      return bad(
        'port',
        `${host}:${port} is in use`,
        'Stop what listens there (a running Posthorn?), or set POSTHORN_PORT.',
      );
    }
    if (code === 'EACCES')
      return bad('port', `${host}:${port} is not allowed to this user`, 'Set POSTHORN_PORT above 1023.');
    return bad('port', `${host}:${port} cannot be listened on (${describeError(error)})`, 'Check POSTHORN_HOST.');
  } finally {
    await new Promise((closed) => probe.close(closed));
  }
}

function checkGuard(networks: readonly string[]): Finding {
  if (networks.length === 0) return good('guard', 'endpoints may be at public addresses only');
  const found = `endpoints may also be in ${networks.join(', ')}`;
  const whole = networks.some((network) => /\/0+$/.test(network));
  const advice = whole
    ? 'That is every address: anyone who can create an endpoint can reach your network. Narrow POSTHORN_ALLOW_NETWORKS.'
    : 'Anyone who can create an endpoint can reach these networks. Cloud metadata addresses stay blocked.';
  return notice('guard', found, advice);
}

function checkSecretKey(key: string | undefined): Finding {
  if (key !== undefined) return good('secrets', 'signing secrets are encrypted in the store');
  return notice('secrets', 'signing secrets are stored as they are', 'POSTHORN_SECRET_KEY encrypts them.');
}
