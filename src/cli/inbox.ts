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

const KEPT = 100;

/** A receiver as a customer would write it: it checks the signature over the raw bytes, and answers. */
export class Inbox {
  readonly #clock: Clock;
  readonly #onArrival: (arrival: Arrival) => void;
  readonly #arrivals: Arrival[] = [];
  #verifier: Verifier | undefined;
  #eventTypeOf: (messageId: string) => Promise<string> = async () => 'unknown';

  constructor(clock: Clock, onArrival: (arrival: Arrival) => void) {
    this.#clock = clock;
    this.#onArrival = onArrival;
  }

  /** The endpoint's secret, and a way to a message's event type, which a delivery does not carry. */
  open(secret: string, eventTypeOf: (messageId: string) => Promise<string>): void {
    this.#verifier = createVerifier([secret]);
    this.#eventTypeOf = eventTypeOf;
  }

  async receive(headers: HeaderSource & Record<string, unknown>, body: Buffer): Promise<Arrival> {
    const now = this.#clock.now();
    const checked = this.#verifier?.verify(headers, body, { nowS: Math.floor(now / 1000) });
    const messageId = String(headers['webhook-id'] ?? '');
    const arrival: Arrival = {
      at: new Date(now).toISOString(),
      messageId,
      // A message may be gone by now; it has arrived all the same.
      eventType: checked?.ok ? await this.#eventTypeOf(messageId).catch(() => 'unknown') : 'unknown',
      verified: checked?.ok ?? false,
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
