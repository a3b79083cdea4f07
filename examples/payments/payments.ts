/**
 * Payments from Stripe and PayPal: verified, stored, entered into the ledger, passed on to fulfilment. What fails is tried
 * again after 1, 5 and 15 minutes; then, or at once where trying again cannot help, it is a dead letter and on-call is told.
 */
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
      post(onCallUrl, { text: 'Webhook moved to DLQ', eventId, eventType, reason }),
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

/** Throws the answer when it is not a 2xx: Posthorn reads its status, and a Retry-After, and decides by them. */
async function post(url: string, body: object, headers: Record<string, string> = {}, signal?: AbortSignal) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
  if (!answer.ok) throw answer;
}
