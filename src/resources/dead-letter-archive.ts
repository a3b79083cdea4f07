/** Dead letters out to lines of JSON and back, and deleted for good. A line at a time: never all of them in memory. */
import { invalid } from '../errors.ts';
import type { Delivery } from '../model/index.ts';
import type { ArchivedDelivery, PurgeItem, RestoreResult, Store } from '../store/index.ts';
import { fromArchiveLine, toArchiveLine } from './archive-line.ts';
import type { Context } from './context.ts';
import { type DeadLetterSelection, LARGEST_PART, type NotDead, walkAll, whyNotDead } from './dead-letter-selection.ts';
import { attemptsOf } from './deliveries.ts';

export type Restored = Readonly<Record<RestoreResult, number>>;

export interface Purged {
  readonly count: number;
  /** Those that are still there, and why. */
  readonly kept: readonly NotDead[];
}

export interface DeadLetterArchive {
  /** One line for each, without line feeds. They stay where they are. */
  archive(selection: DeadLetterSelection): AsyncGenerator<string>;
  /**
   * Lines of an archive as dead letters again, in one transaction; a wrong line and nothing is done. What is there already
   * stays as it is, so that doing it twice does no harm. What comes back is kept as long as if it had died now.
   */
  restore(lines: readonly string[]): Promise<Restored>;
  /**
   * Deletes dead letters with their attempts, and messages that nothing else refers to: by id, or, with the `updatedAt` of
   * an archive's line, only what is still as it is there.
   */
  purge(letters: readonly (string | PurgeItem)[]): Promise<Purged>;
}

export function createArchive({ store, clock }: Pick<Context, 'store' | 'clock'>): DeadLetterArchive {
  return {
    async *archive(selection) {
      for await (const { items } of walkAll(store, selection, clock.now())) {
        for (const delivery of items) {
          const whole = await readWhole(store, delivery);
          if (whole !== undefined) yield toArchiveLine(whole);
        }
      }
    },

    async restore(lines) {
      const items = lines.flatMap((line, index) => {
        // Editors put a byte order mark at the start of a file.
        const text = index === 0 ? line.replace(/^\uFEFF/, '') : line;
        return text.trim() === '' ? [] : [fromArchiveLine(text, ['body', `[${index}]`])];
      });
      const counts = { restored: 0, exists: 0, missing: 0, conflict: 0 };
      if (items.length === 0) return counts;
      for (const result of await store.restore({ now: clock.now(), items })) counts[result] += 1;
      return counts;
    },

    purge: async (letters) => purgeUnchanged(store, readLetters(letters)),
  };
}

/** Undefined when it was deleted meanwhile. */
export async function readWhole(store: Store, delivery: Delivery): Promise<ArchivedDelivery | undefined> {
  const message = await store.getMessage({ applicationId: delivery.applicationId, id: delivery.messageId });
  return message && { delivery, message, attempts: await attemptsOf(store, delivery) };
}

/** What was retried, or restored, after it was read is not what its line in an archive says: it stays. */
export async function purgeUnchanged(store: Store, letters: readonly PurgeItem[]): Promise<Purged> {
  const items = letters.map(({ id, updatedAt }) => ({ id, ...(updatedAt !== undefined && { updatedAt }) }));
  const { ids } = await store.purge({ items });
  const gone = new Set(ids);
  const others = items.filter(({ id }) => !gone.has(id));
  const found = await Promise.all(others.map(({ id }) => store.getDelivery({ id })));
  const kept = found.flatMap((delivery) =>
    delivery === undefined
      ? []
      : [{ id: delivery.id, reason: delivery.state === 'dead' ? CHANGED : whyNotDead(delivery) }],
  );
  return { count: ids.length, kept };
}

const CHANGED = 'it died again, or was restored, since it was read';

function readLetters(letters: readonly (string | PurgeItem)[]): PurgeItem[] {
  const isLetter = (each: unknown) => typeof each === 'string' || typeof (each as PurgeItem | null)?.id === 'string';
  if (!Array.isArray(letters) || letters.length > LARGEST_PART || !letters.every(isLetter)) {
    throw invalid(['letters'], `must be a list of at most ${LARGEST_PART} ids, or of { id, updatedAt }`);
  }
  const all = (letters as typeof letters).map((each) => (typeof each === 'string' ? { id: each } : each));
  return [...new Map(all.map((each) => [each.id, each])).values()];
}
