/** What `posthorn doctor` asks of Redis when the dispatch is on BullMQ. */
import { type Config, parseRedisUrl } from '../config/index.ts';
import { describeError } from '../errors.ts';
import type { Finding } from './findings.ts';

const LEAST_VERSION = [6, 2] as const;
const WHAT = 'redis';

export async function* checkRedis({ dispatch, redisUrl }: Config): AsyncGenerator<Finding> {
  const parsed = parseRedisUrl(redisUrl);
  if (dispatch !== 'bullmq' || 'refused' in parsed) return;
  // The password stays out of what is printed.
  const where = parsed.value.nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
  const { inspectRedis } = await import('../dispatch/bullmq/index.ts');
  try {
    const { version, evictionPolicy, appendsToDisk } = await inspectRedis(parsed.value);
    if (isTooOld(version)) {
      const advice = `Install Redis ${LEAST_VERSION.join('.')} or newer.`;
      yield { kind: 'bad', what: WHAT, found: `${where} is version ${version}`, advice };
    } else yield { kind: 'good', what: WHAT, found: `${where} answers (version ${version})` };
    if (evictionPolicy !== 'noeviction') {
      const found = `throws away what it holds when its memory is full (maxmemory-policy ${evictionPolicy})`;
      const advice = 'Set maxmemory-policy to noeviction: a job that is thrown away is sent seconds late.';
      yield { kind: 'notice', what: WHAT, found, advice };
    }
    if (!appendsToDisk) {
      const found = 'forgets its jobs when it restarts (appendonly no)';
      const advice =
        'Nothing is lost: the store has every delivery. appendonly yes spares the seconds until they are found.';
      yield { kind: 'notice', what: WHAT, found, advice };
    }
  } catch (error) {
    const advice = 'Start Redis or set POSTHORN_REDIS_URL; or POSTHORN_DISPATCH=store, which needs no Redis.';
    yield { kind: 'bad', what: WHAT, found: `${where} does not answer (${describeError(error)})`, advice };
  }
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < LEAST_VERSION[0] || (major === LEAST_VERSION[0] && minor < LEAST_VERSION[1]);
}
