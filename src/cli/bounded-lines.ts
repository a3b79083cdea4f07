import type { Terminal } from './terminal.ts';
import { terminalLine } from './terminal-line.ts';

const WINDOW_MS = 1000;
const MOST_IN_WINDOW = 20;

/** Lines that a person can still read when thousands come: so many in a second, then how many more there were. */
export class BoundedLines {
  readonly #terminal: Terminal;
  #printed = 0;
  #more = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  print(line: string): void {
    if (this.#printed === 0) this.#terminal.clock.after(WINDOW_MS, () => this.#closeWindow());
    if (this.#printed === MOST_IN_WINDOW) {
      this.#more += 1;
      return;
    }
    this.#printed += 1;
    this.#terminal.out(line);
  }

  #closeWindow(): void {
    if (this.#more > 0) this.#terminal.out(terminalLine(this.#terminal.clock.now(), `and ${this.#more} more`));
    this.#printed = 0;
    this.#more = 0;
  }
}
