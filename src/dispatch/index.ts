/**
 * How due work reaches a worker: the port, and the way without a queue. Queues live in folders of their own (`bullmq/`)
 * and are named by posthorn.ts and the CLI alone. Refuses to hold anything that the store does not: a dispatch carries
 * ids, and losing all of them costs a few seconds, never a delivery.
 */
export { byStore } from './by-store.ts';
export type { Dispatch, Hands, Taken, Work } from './dispatch.ts';
