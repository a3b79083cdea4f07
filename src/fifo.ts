/** First in, first out, however long. An array's own `shift` moves all that is left once it has some ten thousand items. */
export class Fifo<Item> {
  #items: Item[] = [];
  #next = 0;

  get length(): number {
    return this.#items.length - this.#next;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    if (this.#next === this.#items.length) return undefined;
    const item = this.#items[this.#next];
    this.#next += 1;
    // Half of it is gone: what each item has cost to move stays below one move.
    if (this.#next >= MIN_GONE && this.#next * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#next);
      this.#next = 0;
    }
    return item;
  }

  /** Answers all, and forgets them. */
  drain(): Item[] {
    const items = this.#items.slice(this.#next);
    this.#items = [];
    this.#next = 0;
    return items;
  }
}

const MIN_GONE = 64;
