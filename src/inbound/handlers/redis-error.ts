/** Errors of ioredis and node-redis. */
import type { ErrorKind } from '../../model/index.ts';

const REDIS_NAMES =
  /^(MaxRetriesPerRequestError|ReplyError|ClusterAllFailedError|ClientClosedError|ClientOfflineError|SocketClosedUnexpectedlyError|ConnectionTimeoutError|DisconnectsClientError|ReconnectStrategyError|RedisError|AbortError: The command)/;
const REDIS_MESSAGES =
  /^(READONLY|LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|Connection is closed\.$|Socket closed unexpectedly)/;
const REDIS_PORTS = new Set([6379, 26379]);

export function redisKind(error: object): ErrorKind | undefined {
  const { name, message, port } = error as Readonly<Record<string, unknown>>;
  if (typeof name === 'string' && REDIS_NAMES.test(name)) return 'redis';
  if (typeof message === 'string' && REDIS_MESSAGES.test(message)) return 'redis';
  return typeof port === 'number' && REDIS_PORTS.has(port) ? 'redis' : undefined;
}
