/** First in, first out, however long. An array's own `shift` moves all that is left once it has some ten thousand items. */
const MIN_GONE = 64;

export class Fifo<Item> {
  #items: (Item | undefined)[] = [];
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
    // What was handed out is let go of at once: a queue that rests keeps nothing alive.
    this.#items[this.#next] = undefined;
    this.#next += 1;
    if (this.#next === this.#items.length) this.#forget();
    // Half of it is gone: what each item has cost to move stays below one move.
    else if (this.#next >= MIN_GONE && this.#next * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#next);
      this.#next = 0;
    }
    return item;
  }

  /** Answers all, and forgets them. */
  drain(): Item[] {
    const items = this.#items.slice(this.#next) as Item[];
    this.#forget();
    return items;
  }

  #forget(): void {
    this.#items = [];
    this.#next = 0;
  }
}
