/**
 * What the ledger needs of an event. A signature says who sent it, not that all is there: what is missing, or no amount, will be
 * so next time too and is a PermanentError.
 */
import { type EventsByType, PermanentError } from 'posthorn';
import type Stripe from 'stripe';
import type { Entry } from './ledger.ts';
import type { PaypalEvents, PaypalResource } from './paypal-events.ts';

export type StripeEvents = EventsByType<Stripe.Event>;

export function readPayment(event: StripeEvents['payment_intent.succeeded'], eventId: string): Entry {
  const intent = present(event.data?.object, 'data.object');
  return {
    source: 'stripe',
    eventId,
    kind: 'payment',
    reference: text(intent.id, 'data.object.id'),
    amount: cents(intent.amount_received, 'amount_received'),
    currency: text(intent.currency, 'currency'),
    at: time(event.created, 'created'),
  };
}

export function readRefund(event: StripeEvents['charge.refunded'], eventId: string): Entry {
  const charge = present(event.data?.object, 'data.object');
  const { payment_intent: intent } = charge;
  // Of all refunds of the charge so far: what was refunded now is what it grew by.
  const before = Number(cents(event.data.previous_attributes?.amount_refunded, 'previous amount_refunded'));
  const now = Number(cents(charge.amount_refunded, 'amount_refunded'));
  return {
    source: 'stripe',
    eventId,
    kind: 'refund',
    // Charges that were made without a payment intent have none.
    reference: text(typeof intent === 'string' ? intent : (intent?.id ?? charge.id), 'payment_intent'),
    amount: cents(now - before, 'growth of amount_refunded'),
    currency: text(charge.currency, 'currency'),
    at: time(event.created, 'created'),
  };
}

export function readCapture(event: PaypalEvents[keyof PaypalEvents], eventId: string): Entry {
  const resource = present(event.resource, 'resource');
  const isRefund = event.event_type === 'PAYMENT.CAPTURE.REFUNDED';
  return {
    source: 'paypal',
    eventId,
    kind: isRefund ? 'refund' : 'payment',
    reference: text(isRefund ? captureOf(resource) : resource.id, isRefund ? 'link to its capture' : 'resource.id'),
    amount: decimal(resource.amount?.value, 'amount'),
    currency: text(resource.amount?.currency_code, 'currency'),
    at: time(event.create_time, 'create_time'),
  };
}

/** A refund has an id of its own, and a link up to its capture: …/v2/payments/captures/{id}. */
function captureOf({ links }: PaypalResource): string | undefined {
  const up = Array.isArray(links) ? links.find((link) => link?.rel === 'up') : undefined;
  return /\/captures\/([^/?]+)/.exec(`${up?.href}`)?.[1];
}

function present<T extends object>(value: T | null | undefined, name: string): T {
  return typeof value === 'object' && value !== null ? value : refuse(name);
}

function text(value: unknown, name: string): string {
  return typeof value === 'string' && value !== '' ? value : refuse(name);
}

/** A whole number of the currency's smallest unit. */
function cents(value: unknown, name: string): string {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? String(value) : refuse(name);
}

function decimal(value: unknown, name: string): string {
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? value : refuse(name);
}

/** Stripe counts seconds, PayPal writes ISO 8601. */
function time(value: unknown, name: string): string {
  const date = new Date(typeof value === 'number' ? value * 1000 : `${value}`);
  return Number.isNaN(date.getTime()) ? refuse(name) : date.toISOString();
}

function refuse(name: string): never {
  throw new PermanentError(`the event's ${name} is missing or cannot be read`);
}
