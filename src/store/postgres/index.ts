/**
 * The store for many nodes: one PostgreSQL database, one schema of ours in it. Every operation is one transaction; what
 * resolved is on the server's disk, so it refuses a server that answers before that (synchronous_commit = off), and a
 * schema that a newer version wrote. Errors of the connection come up as store_unavailable: then nobody knows whether
 * the last write was done, and it is safe to repeat it under the same idempotency key or event id.
 */
import type { Clock } from '../../clock.ts';
import { systemClock } from '../../clock.ts';
import { isPosthornError, PosthornError } from '../../errors.ts';
import { randomSecret } from '../../ids.ts';
import type { Enqueue } from '../outbox.ts';
import type { AcceptInput, Store } from '../store.ts';
import { clientConfig } from './client-config.ts';
import { Db } from './driver.ts';
import { enqueue } from './enqueue.ts';
import { Listener } from './listener.ts';
import { type OperationName, operations } from './operations.ts';
import { maintain } from './partitions.ts';
import { prepareServer } from './prepare-server.ts';
import { transact } from './transact.ts';
import { Unanswered } from './unanswered.ts';

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
  /** Finished messages older than this are dropped, a week at a time; kept for ever without it. */
  readonly retentionMs?: number;
  readonly clock?: Clock;
}

const MAINTENANCE_MS = 3_600_000;
/** What leases to a node; `epoch` and `now` are in the input of each. */
const LEASING: readonly OperationName[] = ['accept', 'relay', 'claim', 'lease', 'takeOver'];

export interface PostgresStore extends Store {
  /** Leaves a message in a transaction of the caller's own. */
  readonly enqueue: Enqueue;
}

export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { clock = systemClock, connectTimeoutMs = 10_000 } = options;
  const { client, schema } = clientConfig(options);
  const channel = `posthorn_${schema}`;
  const teller = randomSecret(6).toString('hex');
  await prepareServer({ ...client, connectionTimeoutMillis: connectTimeoutMs }, schema);
  const db = new Db({ client, schema, channel, teller, clock, poolSize: options.poolSize ?? 10, connectTimeoutMs });
  // Of their own: functions of the user's must not keep the engine from its connections, however long they take.
  const inbox = new Db({ client, schema, channel, teller, clock, poolSize: options.poolSize ?? 10, connectTimeoutMs });
  const listener = new Listener({ client, channel, teller, clock });
  const running = new Set<Promise<unknown>>();
  const unanswered = new Unanswered();
  let closing: Promise<void> | undefined;

  const track = <T>(work: Promise<T>): Promise<T> => {
    const settled: Promise<unknown> = work.then(
      () => running.delete(settled),
      () => running.delete(settled),
    );
    running.add(settled);
    return work;
  };

  const look = () => {
    const retention = options.retentionMs === undefined ? {} : { retentionMs: options.retentionMs };
    // What fails here is tried again an hour later; until then the default partition takes what has no other.
    void track(maintain(db, { now: clock.now(), ...retention }))
      .catch(() => {})
      .then(lookLater);
  };
  const lookLater = () => {
    if (closing === undefined) timer = clock.after(MAINTENANCE_MS, look);
  };
  let timer = clock.after(MAINTENANCE_MS, look);

  async function run(name: OperationName, input: unknown): Promise<unknown> {
    const operation = operations[name] as (...args: unknown[]) => Promise<unknown>;
    if (!LEASING.includes(name)) return operation(db, input);
    const { epoch, now } = input as { epoch: number; now: number };
    await unanswered.giveBack(db, now);
    let leasing = name === 'accept' ? leasedBy(input as AcceptInput) : [];
    try {
      return await operation(db, input, (ids: readonly string[]) => {
        leasing = ids;
      });
    } catch (error) {
      if (isPosthornError(error, 'store_unavailable')) unanswered.add(epoch, leasing);
      throw error;
    }
  }

  async function close(): Promise<void> {
    timer.cancel();
    await listener.close();
    await Promise.all(running);
    await inbox.close();
    await db.close();
  }

  const methods = (Object.keys(operations) as OperationName[]).map((name) => [
    name,
    async (input: unknown) => {
      if (closing !== undefined) throw new PosthornError('closed', 'The store is closed.');
      return track(run(name, input));
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
    transact: (input, work) => track(transact(inbox, input, work)),
    watch: (hearer) => listener.watch(hearer),
    enqueue: (given, message) => enqueue({ schema, channel }, given, message),
    close: () => (closing ??= close()),
  } as PostgresStore;
}

function leasedBy({ items }: AcceptInput): readonly string[] {
  return items.flatMap(({ deliveries }) => deliveries.filter(({ state }) => state === 'leased').map(({ id }) => id));
}
