/**
 * Payments from Stripe and PayPal: verified, stored, entered into the ledger, passed on to fulfilment. What fails is tried
 * again after 1, 5 and 15 minutes; then, or at once where trying again cannot help, it is a dead letter and on-call is told.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createPosthorn, type PosthornOptions } from 'posthorn';
import type { Entry, Ledger } from './ledger.ts';
import type { PaypalEvents } from './paypal-events.ts';
import { readCapture, readPayment, readRefund, type StripeEvents } from './read-event.ts';

export interface PaymentsOptions extends PosthornOptions {
  readonly stripeSecret: string;
  readonly paypalWebhookId: string;
  readonly ledger: Ledger;
  /** Is told of every entry: POST, with the event's id as Idempotency-Key. */
  readonly fulfilmentUrl: string;
  /** Is told of every dead letter. */
  readonly onCallUrl: string;
}

export async function createPayments(options: PaymentsOptions) {
  const { stripeSecret, paypalWebhookId, ledger, fulfilmentUrl, onCallUrl, ...rest } = options;
  const hooks = await createPosthorn({
    ...rest,
    onDeadLetter: ({ eventId, eventType, reason }) =>
      alert(onCallUrl, { text: 'Webhook moved to DLQ', eventId, eventType, reason }),
  });

  async function take(entry: Entry, signal: AbortSignal): Promise<void> {
    ledger.enter(entry);
    await post(fulfilmentUrl, entry, { 'idempotency-key': entry.eventId }, signal);
  }

  const policy = 'payments-inbound';
  const stripe = hooks
    .source<StripeEvents>('stripe', { secret: stripeSecret, policy })
    .on('payment_intent.succeeded', (event, { eventId, signal }) => take(readPayment(event, eventId), signal))
    .on('charge.refunded', (event, { eventId, signal }) => take(readRefund(event, eventId), signal));
  const paypal = hooks
    .source<PaypalEvents>('paypal', { settings: { webhookId: paypalWebhookId }, policy })
    .on(['PAYMENT.CAPTURE.COMPLETED', 'PAYMENT.CAPTURE.REFUNDED'], (event, { eventId, signal }) =>
      take(readCapture(event, eventId), signal),
    );
  await Promise.all([stripe.ready(), paypal.ready()]);
  return { hooks, stripe, paypal };
}

const ALERT_PAUSES_MS = [1_000, 5_000, 25_000];

/** What it throws in the end is in Posthorn's log, with the event's id. */
async function alert(url: string, body: object): Promise<void> {
  for (const pauseMs of ALERT_PAUSES_MS) {
    try {
      return await post(url, body, {}, AbortSignal.timeout(10_000));
    } catch {
      await sleep(pauseMs);
    }
  }
  await post(url, body, {}, AbortSignal.timeout(10_000));
}

/** Throws the answer when it is not a 2xx: Posthorn reads its status, and a Retry-After, and decides by them. */
async function post(url: string, body: object, headers: Record<string, string>, signal: AbortSignal): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal,
  });
  if (!answer.ok) throw answer;
}
