import type { EngineEvent } from '../engine/index.ts';
import { eventLine } from './event-line.ts';
import type { Terminal } from './terminal.ts';

/**
 * The lines about failures in `posthorn dev`. Until the inbox is open they wait, and those about the inbox itself are
 * dropped: it asked to be tried again in a moment, which is nobody's failure.
 */
export class DevEvents {
  readonly #terminal: Terminal;
  #early: EngineEvent[] = [];
  #inbox: { readonly id: string; readonly openedAt: number } | undefined;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  open(inboxId: string): void {
    this.#inbox = { id: inboxId, openedAt: this.#terminal.clock.now() };
    const early = this.#early;
    this.#early = [];
    for (const event of early) this.tell(event);
  }

  tell(event: EngineEvent): void {
    if (this.#inbox === undefined) {
      this.#early.push(event);
      return;
    }
    if (event.kind === 'attempt') {
      const { destinationId, startedAt } = event.attempt;
      if (destinationId === this.#inbox.id && startedAt <= this.#inbox.openedAt) return;
    }
    const line = eventLine(event, this.#terminal.clock.now());
    if (line !== undefined) this.#terminal.out(line);
  }
}
