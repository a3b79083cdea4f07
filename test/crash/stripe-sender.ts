/** A provider as providers are: signs each event, and repeats it until somebody answers 2xx. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';

const stripe = new Stripe('sk_test_1');
/** Long enough that eight of these do not keep a starting process from its share of a small machine. */
const PAUSE_MS = 80;
const TIMEOUT_MS = 5000;

export interface StripeSender {
  /** The events that were answered 2xx. */
  readonly taken: ReadonlySet<string>;
  /** How often an event was sent again because nobody had answered. */
  readonly repeats: number;
  /** Any answer that is neither 2xx nor 503. */
  readonly odd: readonly string[];
  /** Sends no new events, and resolves when all that were sent are answered. */
  finish(): Promise<void>;
}

export function startSending(url: string, secret: string, parallel: number): StripeSender {
  const agent = new Agent({ keepAlive: true, maxSockets: parallel });
  const taken = new Set<string>();
  const odd: string[] = [];
  let repeats = 0;
  let count = 0;
  let stopped = false;

  async function sendOne(id: string): Promise<void> {
    const payload = JSON.stringify({ id, object: 'event', type: 'invoice.paid', created: 1, data: { filler: id } });
    for (;;) {
      const signature = stripe.webhooks.generateTestHeaderString({ payload, secret });
      const status = await post(url, payload, signature, agent).catch(() => 0);
      if (status >= 200 && status < 300) break;
      if (status !== 0 && status !== 503) odd.push(`${id}: ${status}`);
      repeats += 1;
      await sleep(PAUSE_MS);
    }
    taken.add(id);
  }

  const senders = Array.from({ length: parallel }, async () => {
    while (!stopped) await sendOne(`evt_${count++}`);
  });
  return {
    taken,
    odd,
    get repeats() {
      return repeats;
    },
    async finish() {
      stopped = true;
      await Promise.all(senders);
      agent.destroy();
    },
  };
}

function post(url: string, payload: string, signature: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
    const sent = request(url, { method: 'POST', headers, agent, timeout: TIMEOUT_MS }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('close', () => reject(new Error('cut off')));
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer')));
    sent.once('error', reject);
    sent.end(payload);
  });
}
