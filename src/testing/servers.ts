/**
 * Real servers for tests that kill and restart them: each is on a loopback port of its own with a temporary folder of its
 * own, and both are gone when the test process is, however it ends. Tests that only need a server share the ones that
 * POSTHORN_TEST_POSTGRES_URL and POSTHORN_TEST_REDIS_URL name.
 */
export type { Server } from '../../scripts/services/server.mjs';
export { startPostgres } from '../../scripts/services/start-postgres.mjs';
export { startRedis } from '../../scripts/services/start-redis.mjs';
export { type RedisCluster, startRedisCluster } from './start-redis-cluster.ts';
