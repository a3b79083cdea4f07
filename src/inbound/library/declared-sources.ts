/** The sources that this process declares: what is under way, and what was declared twice in different words. */
import type { Logger } from '../../engine/index.ts';
import type { SourceOptions } from './source-arguments.ts';

export class DeclaredSources {
  readonly #options = new Map<string, string>();
  readonly #underWay = new Set<Promise<void>>();

  /** Two modules may declare the same source and add handlers to it. When its options differ, those that came last count. */
  add(name: string, options: SourceOptions, logger: Logger): void {
    const written = JSON.stringify(options);
    const before = this.#options.get(name);
    if (before !== undefined && before !== written) {
      logger.warn(
        { source: name },
        'this source is declared twice in this process, with different options: those that were declared last count. Declare it once, and use what source() returned',
      );
    }
    this.#options.set(name, written);
  }

  /** Takes what makes a declaration true in the store. What it rejects with is in the log already. */
  follow(made: Promise<void>): void {
    const settled = made
      .catch(() => {})
      .finally(() => {
        this.#underWay.delete(settled);
      });
    this.#underWay.add(settled);
  }

  /** Resolves when all that was declared so far is in the store, or its failure in the log. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
