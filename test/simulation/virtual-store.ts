/**
 * The real store with the time that a disk takes: one commit at a time, shared by all that waited for it, longer with
 * every row. Without it the engine would run on a store that costs nothing, and no neighbour could ever be in the way.
 */
import type { Clock } from '../../src/clock.ts';
import type { Store } from '../../src/store/index.ts';

export interface VirtualStore {
  readonly store: Store;
  /** The longest commit so far. */
  longestCommitMs(): number;
}

const COMMIT_MS = 2;
/** 40,000 rows a second: assumed, not measured. On a machine under load a file took 45 to 170 µs a row. */
const ROW_MS = 0.025;

interface Waiting {
  readonly input: unknown;
  run(): Promise<unknown>;
  resolve(output: unknown): void;
  reject(error: unknown): void;
}

export function createVirtualStore(inner: Store, clock: Clock): VirtualStore {
  let waiting: Waiting[] = [];
  let committing = false;
  let longestMs = 0;

  async function commit(): Promise<void> {
    committing = true;
    const batch = waiting;
    waiting = [];
    const settled = await Promise.allSettled(batch.map(({ run }) => run()));
    let rows = 0;
    for (const [index, each] of settled.entries()) {
      rows += rowsOf(batch[index]?.input) + (each.status === 'fulfilled' ? rowsOf(each.value) : 0);
    }
    const costMs = Math.ceil(COMMIT_MS + rows * ROW_MS);
    longestMs = Math.max(longestMs, costMs);
    clock.after(costMs, () => {
      for (const [index, each] of settled.entries()) {
        if (each.status === 'fulfilled') batch[index]?.resolve(each.value);
        else batch[index]?.reject(each.reason);
      }
      committing = false;
      if (waiting.length > 0) void commit();
    });
  }

  const store = new Proxy(inner, {
    get(target, name: keyof Store) {
      if (name === 'watch' || name === 'close') return target[name];
      return (input: never) =>
        new Promise((resolve, reject) => {
          const run = () => (target[name] as (input: never) => Promise<unknown>)(input);
          waiting.push({ input, run, resolve, reject });
          // What is asked for in the same tick shares the commit.
          if (!committing) {
            committing = true;
            queueMicrotask(() => void commit());
          }
        });
    },
  });
  return { store, longestCommitMs: () => longestMs };
}

/** Rows that are written or read: messages with their deliveries, attempts, claimed deliveries, endpoints of a list. */
function rowsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const { items, deliveries } = value as { items?: unknown; deliveries?: unknown };
  const own = Array.isArray(deliveries) ? deliveries.length : 0;
  return Array.isArray(items) ? items.reduce<number>((sum, item) => sum + 1 + rowsOf(item), own) : own;
}
