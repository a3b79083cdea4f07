/** Errors of ioredis and node-redis. */
import type { ErrorKind } from '../../model/index.ts';

const REDIS_NAMES =
  /^(MaxRetriesPerRequestError|ReplyError|ClusterAllFailedError|ClientClosedError|ClientOfflineError|SocketClosedUnexpectedlyError|SocketTimeoutError|ConnectionTimeoutError|DisconnectsClientError|ReconnectStrategyError|RedisError|AbortError: The command)/;
const REDIS_MESSAGES =
  /^(READONLY|LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|Connection is closed\.$|Command timed out$|Stream isn't writeable and enableOfflineQueue|Socket closed unexpectedly)/;
const REDIS_PORTS = new Set([6379, 26379]);

export function redisKind(error: object): ErrorKind | undefined {
  const { name, message, port, code } = error as Readonly<Record<string, unknown>>;
  // undici's client has an error of the same name as node-redis's.
  if (typeof code === 'string' && code.startsWith('UND_ERR_')) return undefined;
  if (typeof name === 'string' && REDIS_NAMES.test(name)) return 'redis';
  if (typeof message === 'string' && REDIS_MESSAGES.test(message)) return 'redis';
  return typeof port === 'number' && REDIS_PORTS.has(port) ? 'redis' : undefined;
}
