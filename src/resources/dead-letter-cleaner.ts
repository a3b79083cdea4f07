/**
 * Deletes dead letters that have lain longer than they are to be kept, a bounded chunk at a time, and writes them to a file
 * first where a folder is named. A crash between the two leaves them in both: an archive is restored by id, so that does no
 * harm. What somebody retries between the two stays, and it is said that the file has an old state of it.
 */
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { LeaderDuty } from '../engine/index.ts';
import type { Delivery } from '../model/index.ts';
import type { Store } from '../store/index.ts';
import { toArchiveLine } from './archive-line.ts';
import { type Purged, purgeUnchanged, readWhole } from './dead-letter-archive.ts';

export interface CleanerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly keepMs: number;
  /** Where archives go; without it what is old is deleted alone. */
  readonly folder?: string;
  /** Ends the file's name, so that two nodes with one folder do not write into each other's lines. */
  readonly fileSuffix?: string;
  readonly onCleaned?: (count: number) => void;
  /** Of what was written to this file, these stay: they changed before they could be deleted. */
  readonly onKept?: (kept: Purged['kept'], file: string) => void;
}

const EVERY_MS = 10 * 60_000;
const CHUNK = 200;

export function createDeadLetterCleaner(options: CleanerOptions): LeaderDuty {
  const { store, clock, keepMs, onCleaned = () => {}, onKept = () => {} } = options;

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
    const file = options.folder === undefined ? undefined : await write(options.folder, old);
    const { count, kept } = await purgeUnchanged(store, old);
    if (file !== undefined && kept.length > 0) onKept(kept, file);
    return count;
  }

  /** Which file they are in. */
  async function write(folder: string, old: readonly Delivery[]): Promise<string> {
    const whole = await Promise.all(old.map((delivery) => readWhole(store, delivery)));
    const lines = whole.flatMap((each) => (each === undefined ? [] : [`${toArchiveLine(each)}\n`]));
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `dead-letters-${day}${options.fileSuffix ?? ''}.jsonl`);
    const file = await open(path, 'a', 0o600);
    try {
      await file.appendFile(lines.join(''));
      await file.sync();
    } finally {
      await file.close();
    }
    return path;
  }

  return { name: 'the clean-up of dead letters', everyMs: EVERY_MS, run: clean };
}
