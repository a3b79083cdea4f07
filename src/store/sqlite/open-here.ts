/**
 * Which files this process has open itself: the lock, which may be held by a thread, only says that somebody has one. Who
 * opens a file twice in one program looks in vain for the other process.
 */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isPosthornError, PosthornError } from '../../errors.ts';
import type { Runner } from './runner.ts';

interface Opening {
  readonly path: string;
  /** Whether it came to be open. */
  readonly opened: Promise<boolean>;
}

const openings = new Set<Opening>();

export async function openHere(path: string, open: (path: string) => Promise<Runner>): Promise<Runner> {
  const opening = open(path);
  const entry: Opening = {
    path: resolve(path),
    opened: opening.then(
      () => true,
      () => false,
    ),
  };
  openings.add(entry);
  try {
    const runner = await opening;
    return {
      ...runner,
      async close() {
        try {
          await runner.close();
        } finally {
          openings.delete(entry);
        }
      },
    };
  } catch (error) {
    openings.delete(entry);
    if (isPosthornError(error, 'store_locked') && (await isOpenHere(path))) throw openAlready(path, error);
    throw error;
  }
}

/** By the file itself, as the lock is. */
async function isOpenHere(path: string): Promise<boolean> {
  const file = await realpath(path).catch(() => undefined);
  for (const each of openings) {
    if (file !== undefined && (await each.opened) && (await realpath(each.path).catch(() => undefined)) === file)
      return true;
  }
  return false;
}

function openAlready(path: string, cause: unknown): PosthornError {
  return new PosthornError(
    'store_locked',
    `${path} is already open in this very process. Use the Posthorn that has it, close that one first, or give this one a file of its own (POSTHORN_STORE=sqlite:./other.db).`,
    { cause },
  );
}
