/**
 * The store room's door: the port, and the move from one adapter to another. Adapters live in `sqlite/` and `postgres/`
 * and are named by posthorn.ts and the CLI alone; every adapter passes the suite in `conformance/`. Promises: an operation that resolved is durable;
 * one that rejected changed nothing; a lost lease changes zero rows. The caller's clock counts.
 */

export type { Enqueue, EnqueueResult, SqlClient } from './outbox.ts';
export type * from './store.ts';
export { type Checksum, type TransferSource, type TransferTarget, transfer } from './transfer.ts';
export { TRANSFER_TABLES } from './transfer-tables.ts';
