/** Everything that happened, in order, as one hash: two runs with the same hash were the same run. */
import { createHash } from 'node:crypto';

const LINES_PER_UPDATE = 1000;

export class Trace {
  readonly #hash = createHash('sha256');
  #lines: string[] = [];
  #count = 0;

  add(...what: (string | number)[]): void {
    this.#count += 1;
    if (this.#lines.push(what.join(' ')) >= LINES_PER_UPDATE) this.#flush();
  }

  /** Ends the trace. */
  digest(): { events: number; hash: string } {
    this.#flush();
    return { events: this.#count, hash: this.#hash.digest('hex') };
  }

  #flush(): void {
    this.#hash.update(`${this.#lines.join('\n')}\n`);
    this.#lines = [];
  }
}
