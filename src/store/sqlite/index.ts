/**
 * The embedded store: one SQLite file, one process, nothing to install. WAL with synchronous=FULL: what resolved is on
 * disk. A lock of the operating system's proves that this process is the only writer, so whatever a former process had
 * leased is free at once. Refuses to open a file that another process has, or that a newer version wrote.
 */
import type { Store } from '../store.ts';
import { openHere } from './open-here.ts';
import { type OperationName, operations } from './operations.ts';
import { runInLine, runInThread } from './runner.ts';

export { openSqliteSource } from './transfer-source.ts';

export interface SqliteOptions {
  /** A file, or `:memory:` for a store that ends with the process. */
  readonly path: string;
  /** In a thread of its own (the default), or on the caller's. */
  readonly thread?: boolean;
}

/** The executor takes all that has come into one transaction. */
const BATCHES_AT_ONCE = 4;

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const runner = await openHere(options.path, (options.thread ?? true) ? runInThread : runInLine);
  const names = Object.keys(operations) as OperationName[];
  const methods = names.map((name) => [name, (input: unknown) => runner.run(name, input)]);
  // One process: there is nobody to hear from, and no transaction of somebody else's to publish in.
  const watch = () => () => {};
  const relay = async () => ({ fenced: false, results: [] });
  const close = () => runner.close();
  const facts = { soleProcess: true, batchesAtOnce: BATCHES_AT_ONCE };
  return { ...Object.fromEntries(methods), ...facts, watch, relay, close } as Store;
}
