import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisLocation } from '../../config/index.ts';

export type RedisClient = Redis | Cluster;

const COMMAND_TIMEOUT_MS = 2000;
const CONNECT_TIMEOUT_MS = 2000;
const SLOWEST_RECONNECT_MS = 2000;

/**
 * A connection that comes back by itself until `closed`. A producer's commands fail at once while Redis is away: nobody
 * may wait for them. A worker's wait, as BullMQ asks.
 */
export function connect(location: RedisLocation, role: 'producer' | 'worker', closed: AbortSignal): RedisClient {
  const { tls, username, password, nodes, database, cluster } = location;
  const isProducer = role === 'producer';
  // BullMQ copies these options for its own connections: they end with ours.
  const retryStrategy = (times: number) => (closed.aborted ? null : Math.min(times * 100, SLOWEST_RECONNECT_MS));
  const options: RedisOptions = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxRetriesPerRequest: isProducer ? 0 : null,
    ...(isProducer ? { commandTimeout: COMMAND_TIMEOUT_MS } : {}),
  };
  if (cluster) {
    return new Cluster([...nodes], {
      redisOptions: options,
      enableOfflineQueue: !isProducer,
      clusterRetryStrategy: retryStrategy,
    });
  }
  return new Redis({ ...options, ...nodes[0], db: database, enableOfflineQueue: !isProducer, retryStrategy });
}
