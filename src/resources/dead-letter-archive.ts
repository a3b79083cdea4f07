/** Dead letters out to lines of JSON and back, and deleted for good. A line at a time: never all of them in memory. */
import type { Delivery } from '../model/index.ts';
import type { ArchivedDelivery, RestoreResult, Store } from '../store/index.ts';
import { fromArchiveLine, toArchiveLine } from './archive-line.ts';
import type { Context } from './context.ts';
import { type DeadLetterSelection, walk, walkAll } from './dead-letter-selection.ts';
import { attemptsOf } from './deliveries.ts';

export type Restored = Readonly<Record<RestoreResult, number>>;

export interface DeadLetterArchive {
  /** One line for each, without line feeds. They stay where they are. */
  archive(selection: DeadLetterSelection): AsyncGenerator<string>;
  /**
   * Lines of an archive as dead letters again, in one transaction; a wrong line and nothing is done. What is there already
   * stays as it is, so that doing it twice does no harm. What comes back is kept as long as if it had died now.
   */
  restore(lines: readonly string[]): Promise<Restored>;
  /** Deletes dead letters with their attempts, and messages that nothing else refers to; the number that was taken. */
  purge(ids: readonly string[]): Promise<number>;
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
      const items = lines.flatMap((line, index) =>
        line.trim() === '' ? [] : [fromArchiveLine(line, ['body', `[${index}]`])],
      );
      const counts = { restored: 0, exists: 0, missing: 0, conflict: 0 };
      if (items.length === 0) return counts;
      for (const result of await store.restore({ now: clock.now(), items })) counts[result] += 1;
      return counts;
    },

    async purge(ids) {
      // Only dead letters: the store would take other finished deliveries too.
      const { items } = await walk(store, { ids }, {});
      if (items.length === 0) return 0;
      return (await store.purge({ ids: items.map(({ id }) => id) })).ids.length;
    },
  };
}

/** Undefined when it was deleted meanwhile. */
export async function readWhole(store: Store, delivery: Delivery): Promise<ArchivedDelivery | undefined> {
  const message = await store.getMessage({ applicationId: delivery.applicationId, id: delivery.messageId });
  return message && { delivery, message, attempts: await attemptsOf(store, delivery) };
}
