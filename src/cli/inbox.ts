import type { Clock } from '../clock.ts';
import { createVerifier, type HeaderSource, type Verifier } from '../signing/index.ts';

export interface Arrival {
  readonly at: string;
  readonly messageId: string;
  readonly eventType: string;
  /** Whether the signature is that of the inbox's endpoint, over these bytes, now. */
  readonly verified: boolean;
  /** 0 for a first attempt. */
  readonly retry: number;
  readonly body: string;
}

/** What the inbox asks the server for. */
export interface InboxSource {
  /** The endpoint's secret as it is now. */
  secret(): Promise<string>;
  /** A delivery does not carry it. */
  eventTypeOf(messageId: string): Promise<string>;
}

const KEPT = 100;

/** A receiver as a customer would write it: it checks the signature over the raw bytes, and answers. */
export class Inbox {
  readonly #clock: Clock;
  readonly #onArrival: (arrival: Arrival) => void;
  readonly #arrivals: Arrival[] = [];
  #opened: { readonly source: InboxSource; verifier: Verifier } | undefined;

  constructor(clock: Clock, onArrival: (arrival: Arrival) => void) {
    this.#clock = clock;
    this.#onArrival = onArrival;
  }

  async open(source: InboxSource): Promise<void> {
    this.#opened = { source, verifier: createVerifier([await source.secret()]) };
  }

  /**
   * Nothing before it is open: what a killed server left behind is sent as soon as the next one runs, and without the
   * secret every signature would look forged.
   */
  async receive(headers: HeaderSource & Record<string, unknown>, body: Buffer): Promise<Arrival | undefined> {
    const opened = this.#opened;
    if (opened === undefined) return undefined;
    const now = this.#clock.now();
    const nowS = Math.floor(now / 1000);
    let checked = opened.verifier.verify(headers, body, { nowS });
    if (!checked.ok && checked.reason === 'no_matching_signature') {
      // The secret may have been rotated since.
      opened.verifier = createVerifier([await opened.source.secret()]);
      checked = opened.verifier.verify(headers, body, { nowS });
    }
    const messageId = String(headers['webhook-id'] ?? '');
    const arrival: Arrival = {
      at: new Date(now).toISOString(),
      messageId,
      // A message may be gone by now; it has arrived all the same.
      eventType: checked.ok ? await opened.source.eventTypeOf(messageId).catch(() => 'unknown') : 'unknown',
      verified: checked.ok,
      retry: Number(headers['x-webhook-retry'] ?? 0),
      body: body.toString('utf8'),
    };
    this.#arrivals.unshift(arrival);
    this.#arrivals.length = Math.min(this.#arrivals.length, KEPT);
    this.#onArrival(arrival);
    return arrival;
  }

  /** The newest first. */
  list(): readonly Arrival[] {
    return this.#arrivals;
  }
}
