/**
 * Dispatch by BullMQ on Redis or Redis Cluster: one queue from which the workers of many machines take deliveries. Jobs
 * carry ids only; what Redis loses, repeats or delays is found in the store. Refuses to decide anything (retries are the
 * policy's: a job is delayed by what was decided) and to fail or delay a publish. Promises: no password in any error.
 * BullMQ keeps time by the machine's clock.
 */
export { type BullmqOptions, createBullmqDispatch } from './bullmq-dispatch.ts';
export { inspectRedis, type RedisReport } from './inspect-redis.ts';
