/** Events as a person follows them: numbered, sent on one after the other, and again when asked. */
import type { Exchanged, Outgoing } from './exchange.ts';
import type { FollowedEvent } from './follow-events.ts';

export interface Numbered {
  readonly number: number;
  readonly event: FollowedEvent;
}

export interface Shown extends Numbered {
  readonly again: boolean;
  readonly answer?: Exchanged;
}

export interface ReplayOptions {
  /** Where to; shown only without it. */
  readonly target: URL | undefined;
  readonly send: (outgoing: Outgoing) => Promise<Exchanged>;
  readonly show: (shown: Shown) => void;
}

/** Older ones are sent again with `posthorn events resend`. */
const MOST_KEPT = 500;

export class EventReplay {
  readonly #options: ReplayOptions;
  readonly #kept = new Map<number, FollowedEvent>();
  #count = 0;
  /** One at a time, so that lines are whole and an app sees the order that the source has. */
  #work: Promise<void> = Promise.resolve();

  constructor(options: ReplayOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  take(event: FollowedEvent): Promise<void> {
    this.#count += 1;
    const number = this.#count;
    this.#kept.set(number, event);
    this.#kept.delete(number - MOST_KEPT);
    return this.#next({ number, event }, false);
  }

  /** False when there is none of that number. */
  again(which: number | 'last'): boolean {
    const number = which === 'last' ? this.#count : which;
    const event = this.#kept.get(number);
    if (event === undefined) return false;
    void this.#next({ number, event }, true);
    return true;
  }

  async #next(numbered: Numbered, again: boolean): Promise<void> {
    const { target, send, show } = this.#options;
    const { body, bodyEncoding, headers, contentType } = numbered.event;
    this.#work = this.#work.then(async () => {
      if (target === undefined) return show({ ...numbered, again });
      const type = contentType === null ? {} : { 'content-type': contentType };
      const answer = await send({
        url: target,
        headers: { ...type, ...headers },
        body: Buffer.from(body, bodyEncoding),
      });
      show({ ...numbered, again, answer });
    });
    return this.#work;
  }
}
