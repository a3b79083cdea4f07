/** Timers, the earliest first and those of one instant in the order in which they were set; a simulation has millions. */
import type { Timer } from '../clock.ts';

interface Entry extends Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  /** A cancelled timer stays where it is until its turn: taking it out of the middle would cost a search. */
  isCancelled: boolean;
}

export class TimerHeap {
  readonly #entries: Entry[] = [];
  #added = 0;

  add(at: number, run: () => void): Timer {
    const entry: Entry = {
      at,
      order: this.#added++,
      run,
      isCancelled: false,
      cancel() {
        this.isCancelled = true;
      },
    };
    this.#rise(entry);
    return entry;
  }

  /** Takes out the earliest timer, if it is due by `until`. */
  takeUntil(until: number): { readonly at: number; readonly run: () => void } | undefined {
    for (let first = this.#entries[0]; first !== undefined && first.at <= until; first = this.#entries[0]) {
      this.#removeFirst();
      if (!first.isCancelled) return first;
    }
    return undefined;
  }

  #rise(entry: Entry): void {
    const entries = this.#entries;
    let index = entries.length;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = entries[above];
      if (parent === undefined || isBefore(parent, entry)) break;
      entries[index] = parent;
      index = above;
    }
    entries[index] = entry;
  }

  #removeFirst(): void {
    const entries = this.#entries;
    const last = entries.pop();
    if (last === undefined || entries.length === 0) return;
    let index = 0;
    for (;;) {
      const left = entries[2 * index + 1];
      const right = entries[2 * index + 2];
      if (left === undefined) break;
      const goesRight = right !== undefined && isBefore(right, left);
      const child = goesRight ? right : left;
      if (isBefore(last, child)) break;
      entries[index] = child;
      index = 2 * index + (goesRight ? 2 : 1);
    }
    entries[index] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at === b.at ? a.order < b.order : a.at < b.at;
}
