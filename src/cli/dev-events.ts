import type { EngineEvent } from '../engine/index.ts';
import type { ReceivedNotice } from '../inbound/index.ts';
import { BoundedLines } from './bounded-lines.ts';
import { eventLine } from './event-line.ts';
import { receivedLine } from './received-line.ts';
import type { Terminal } from './terminal.ts';

/**
 * The lines of `posthorn dev` about what comes in at sources and goes out to endpoints. Until the inbox is open they
 * wait. The inbox shows what reaches it by itself, and failures before it was open are dropped: it asked to be tried
 * again in a moment, which is nobody's failure.
 */
export class DevEvents {
  readonly #terminal: Terminal;
  /** For what may come by the thousand. What failed is always shown. */
  readonly #bounded: BoundedLines;
  #early: (() => void)[] = [];
  #inbox: { readonly id: string; readonly openedAt: number } | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#bounded = new BoundedLines(terminal);
  }

  open(inboxId: string): void {
    this.#inbox = { id: inboxId, openedAt: this.#terminal.clock.now() };
    const early = this.#early;
    this.#early = [];
    for (const tell of early) tell();
  }

  received(notice: ReceivedNotice): void {
    const line = receivedLine(notice, this.#terminal.clock.now());
    if (this.#inbox === undefined) this.#early.push(() => this.#bounded.print(line));
    else this.#bounded.print(line);
  }

  tell(event: EngineEvent): void {
    if (this.#inbox === undefined) {
      this.#early.push(() => this.tell(event));
      return;
    }
    const delivered = event.kind === 'attempt' && event.attempt.decision.kind === 'delivered';
    if (event.kind === 'attempt' && event.attempt.destinationId === this.#inbox.id) {
      if (delivered || event.attempt.startedAt <= this.#inbox.openedAt) return;
    }
    const line = eventLine(event, this.#terminal.clock.now());
    if (line === undefined) return;
    if (delivered) this.#bounded.print(line);
    else this.#terminal.out(line);
  }
}
