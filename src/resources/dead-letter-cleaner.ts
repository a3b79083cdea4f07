/**
 * Deletes dead letters that have lain longer than they are to be kept, a bounded chunk at a time, and writes them to a file first
 * where a folder is named. A crash between the two leaves them in both: an archive is restored by id, so that does no harm.
 */
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { LeaderDuty } from '../engine/index.ts';
import type { Delivery } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import { toArchiveLine } from './archive-line.ts';
import { readWhole } from './dead-letter-archive.ts';

export interface CleanerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly keepMs: number;
  /** Where archives go; without it what is old is deleted alone. */
  readonly folder?: string;
  /** Ends the file's name, so that two nodes with one folder do not write into each other's lines. */
  readonly fileSuffix?: string;
  readonly onCleaned?: (count: number) => void;
}

const EVERY_MS = 10 * 60_000;
const CHUNK = 200;

export function createDeadLetterCleaner(options: CleanerOptions): LeaderDuty {
  const { store, clock, keepMs, onCleaned = () => {} } = options;

  /**
   * A dead letter is updated by its death and by being restored, and by nothing else: who brings it back has it for the
   * whole time again. Ids rise with the time of creation, and nothing is updated before it is created: the first that is
   * too young ends the walk, so that a pass with nothing to do reads next to nothing.
   */
  async function clean(signal: AbortSignal): Promise<void> {
    const updatedBefore = clock.now() - keepMs;
    let count = 0;
    let key: string | undefined;
    while (!signal.aborted) {
      const page = await store.listDeliveries({
        states: ['dead'],
        limit: CHUNK,
        order: 'ascending',
        ...(key !== undefined && { cursor: { key, direction: 'forward' as const } }),
      });
      const old = page.items.filter(({ updatedAt }) => updatedAt < updatedBefore);
      if (old.length > 0) count += await remove(old);
      const last = page.items.at(-1);
      if (page.done || last === undefined || last.createdAt >= updatedBefore) break;
      key = last.id;
    }
    if (count > 0) onCleaned(count);
  }

  async function remove(old: readonly Delivery[]): Promise<number> {
    if (options.folder !== undefined) await write(options.folder, old);
    return (await store.purge({ ids: old.map(({ id }) => id) })).ids.length;
  }

  async function write(folder: string, old: readonly Delivery[]): Promise<void> {
    const whole = await Promise.all(old.map((delivery) => readWhole(store, delivery)));
    const lines = whole.flatMap((each) => (each === undefined ? [] : [`${toArchiveLine(each)}\n`]));
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await open(join(folder, `dead-letters-${day}${options.fileSuffix ?? ''}.jsonl`), 'a', 0o600);
    try {
      await file.appendFile(lines.join(''));
      await file.sync();
    } finally {
      await file.close();
    }
  }

  return { name: 'the clean-up of dead letters', everyMs: EVERY_MS, run: clean };
}
