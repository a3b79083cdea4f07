/**
 * The store for many nodes: one PostgreSQL database, one schema of ours in it. Every operation is one transaction; what
 * resolved is on the server's disk, so it refuses a server that answers before that (synchronous_commit = off), and a
 * schema that a newer version wrote. Errors of the connection come up as store_unavailable: then nobody knows whether
 * the last write was done, and it is safe to repeat it under the same idempotency key or event id.
 */
import type { Clock } from '../../clock.ts';
import { systemClock } from '../../clock.ts';
import { closed } from '../../errors.ts';
import { randomSecret } from '../../ids.ts';
import type { Enqueue } from '../outbox.ts';
import type { Store } from '../store.ts';
import { clientConfig, plainClientConfig } from './client-config.ts';
import { Db } from './driver.ts';
import { enqueue } from './enqueue.ts';
import { Listener } from './listener.ts';
import { maintain } from './maintain.ts';
import { type OperationName, operations } from './operations.ts';
import { prepareServer } from './prepare-server.ts';
import { transact } from './transact.ts';
import { Turns } from './turns.ts';

export { inspectPostgres } from './inspect.ts';
export { inspectPostgresTarget, openPostgresTarget } from './transfer-target.ts';

export interface PostgresOptions {
  /** postgres://user:password@host:port/database; `?schema=` may name the schema too. */
  readonly url: string;
  /** `posthorn` without it. Made if it is not there. */
  readonly schema?: string;
  /** Connections at most, beside the one that listens; 10 without it. */
  readonly poolSize?: number;
  /** How long an operation waits for a connection. */
  readonly connectTimeoutMs?: number;
  /** How long one statement may take before the server ends it. */
  readonly statementTimeoutMs?: number;
  /**
   * How long a node may be silent, as given to `join`; 10 s without it. A transaction of a stopped process holds others up
   * for as long again, and no longer.
   */
  readonly leaseMs?: number;
  readonly clock?: Clock;
}

export interface PostgresStore extends Store {
  /** Leaves a message in a transaction of the caller's own. */
  readonly enqueue: Enqueue;
}

export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { clock = systemClock, connectTimeoutMs = 10_000, leaseMs = 10_000, poolSize = 10 } = options;
  const { client, schema } = clientConfig({ ...options, idleInTransactionMs: leaseMs });
  const channel = `posthorn_${schema}`;
  const teller = randomSecret(6).toString('hex');
  await prepareServer({ ...client, connectionTimeoutMillis: connectTimeoutMs }, schema);
  const shared = { schema, channel, teller, clock, poolSize, connectTimeoutMs };
  const db = new Db({ ...shared, client });
  // Of their own: functions of the user's must not keep the engine from its connections, however long they take.
  const inbox = new Db({ ...shared, client: plainClientConfig(options) });
  const turns = new Turns(poolSize);
  const listener = new Listener({ client, channel, teller, clock });
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  const track = <T>(work: Promise<T>): Promise<T> => {
    const settled: Promise<unknown> = work.then(
      () => running.delete(settled),
      () => running.delete(settled),
    );
    running.add(settled);
    return work;
  };

  function refuseClosed(): void {
    if (closing !== undefined) throw closed();
  }

  async function close(): Promise<void> {
    await listener.close();
    await Promise.all(running);
    await inbox.close();
    await db.close();
  }

  const methods = (Object.keys(operations) as OperationName[]).map((name) => [
    name,
    async (input: unknown) => {
      refuseClosed();
      return track((operations[name] as (db: Db, input: unknown) => Promise<unknown>)(db, input));
    },
  ]);
  try {
    await maintain(db, { now: clock.now() });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...Object.fromEntries(methods),
    soleProcess: false,
    batchesAtOnce: 1,
    async transact(input, work) {
      refuseClosed();
      return track(turns.take(() => transact(inbox, input, work)));
    },
    watch: (hearer) => listener.watch(hearer),
    async enqueue(given, message) {
      refuseClosed();
      return enqueue({ schema, channel }, given, message);
    },
    close: () => (closing ??= close()),
  } as PostgresStore;
}
