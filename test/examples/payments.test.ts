/** examples/payments in virtual time: Stripe's own signatures, PayPal's by a certificate chain made for this run. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Ledger, openLedger } from '../../examples/payments/ledger.ts';
import { createPayments } from '../../examples/payments/payments.ts';
import { findProvider } from '../../src/inbound/providers/index.ts';
import { type Authority, makeAuthority, type Signer } from '../../src/inbound/providers/testing/make-chain.ts';
import { formatReport } from '../../src/index.ts';
import { createManualClock, type ManualClock } from '../../src/testing/manual-clock.ts';
import { type ScriptedReceiver, startReceiver } from '../../src/testing/scripted-receiver.ts';
import { STRIPE_SECRET, signedRequest, stripeEvent } from './stripe-events.ts';
import { until } from './until.ts';

const WEBHOOK_ID = '1AB';
const paypalProvider = findProvider('paypal');

let authority: Authority;
let signer: Signer;
let clock: ManualClock;
let ledger: Ledger;
let fulfilment: ScriptedReceiver;
let onCall: ScriptedReceiver;
let payments: Awaited<ReturnType<typeof createPayments>>;
let fetched: string[];
let recorded: number;

beforeAll(() => {
  authority = makeAuthority();
  signer = authority.issue('messageverificationcerts.paypal.com');
});
afterAll(() => authority.close());

beforeEach(async () => {
  // Certificates are dated by the real time.
  clock = createManualClock(Date.now());
  ledger = openLedger(':memory:');
  onCall = await startReceiver();
  fetched = [];
});
afterEach(async () => {
  await payments.hooks.close(0);
  await fulfilment.close();
  await onCall.close();
  ledger.close();
});

/** Fulfilment answers these, and then 200. */
async function open(...answers: number[]): Promise<void> {
  fulfilment = await startReceiver(...answers);
  payments = await createPayments({
    stripeSecret: STRIPE_SECRET,
    paypalWebhookId: WEBHOOK_ID,
    ledger,
    fulfilmentUrl: fulfilment.url,
    onCallUrl: onCall.url,
    store: 'sqlite::memory:',
    clock,
    certificates: {
      trustedRoots: [authority.root],
      async fetch(url) {
        fetched.push(url);
        return signer.pem;
      },
    },
  });
  recorded = 0;
  payments.hooks.on(({ kind }) => {
    if (kind === 'attempt') recorded++;
  });
}

const attempts = (count: number) => until(clock, () => recorded >= count);
const deadLetters = async () => (await payments.hooks.deadLetters.list()).data;

function sendStripe(event: object): Promise<Response> {
  return payments.stripe.receive(new Request('http://localhost/webhooks/stripe', signedRequest(event, clock.now())));
}

function sendPaypal(type: string, { token = 'a', by = signer, fields = {} } = {}): Promise<Response> {
  const made = paypalProvider.sample(type, { now: clock.now(), token });
  const sample = { ...made, body: Buffer.from(JSON.stringify({ ...JSON.parse(String(made.body)), ...fields })) };
  const signed = paypalProvider.sign(sample, { webhookId: WEBHOOK_ID, privateKey: by.privateKey }, clock.now());
  const { headers, body } = signed;
  return payments.paypal.receive(
    new Request('http://localhost/webhooks/paypal', {
      method: 'POST',
      headers: { ...headers },
      body: Buffer.from(body),
    }),
  );
}

describe('payments', () => {
  it('PAY-01 PAY-06 PAY-10 events of Stripe and PayPal are handled at once, and entered once however often they come', async () => {
    await open();
    const paid = stripeEvent('payment_intent.succeeded');
    expect((await sendStripe(paid)).status).toBe(200);
    expect((await sendPaypal('PAYMENT.CAPTURE.COMPLETED')).status).toBe(200);
    await attempts(2);
    expect((await sendStripe(paid)).status).toBe(200);
    expect((await sendPaypal('PAYMENT.CAPTURE.COMPLETED')).status).toBe(200);
    expect((await sendPaypal('PAYMENT.CAPTURE.REFUNDED', { token: 'b' })).status).toBe(200);
    await attempts(3);
    const at = new Date(clock.now()).toISOString();
    const stripe = { source: 'stripe', currency: 'USD', at: '2026-01-01T00:00:00.000Z' };
    const paypal = { source: 'paypal', amount: '30.00', currency: 'USD', at };
    expect(ledger.entries()).toEqual([
      { ...stripe, eventId: paid.id, kind: 'payment', reference: 'pi_1', amount: '2000' },
      { ...paypal, eventId: 'WH-a', kind: 'payment', reference: 'a' },
      { ...paypal, eventId: 'WH-b', kind: 'refund', reference: 'C-b' },
    ]);
    expect(fulfilment.arrivals.map(({ headers }) => headers['idempotency-key'])).toEqual([paid.id, 'WH-a', 'WH-b']);
    expect(fetched).toHaveLength(1);
  });

  it('a refund is entered under the payment that it pays back, with what was paid back now', async () => {
    await open();
    const refund = stripeEvent('charge.refunded', { object: { amount_refunded: 500 } });
    await sendStripe({ ...refund, data: { ...refund.data, previous_attributes: { amount_refunded: 200 } } });
    await attempts(1);
    const old = stripeEvent('charge.refunded', { object: { payment_intent: null } });
    await sendStripe({ ...old, data: { ...old.data, previous_attributes: { amount_refunded: 0 } } });
    await attempts(2);
    expect(ledger.entries()).toMatchObject([
      { kind: 'refund', reference: 'pi_1', amount: '300' },
      { kind: 'refund', reference: 'ch_1', amount: '2000' },
    ]);
  });

  const refunded = { amount_refunded: 0 };
  it.each<[string, string, object]>([
    ['no amount', 'payment_intent.succeeded', { object: { id: 'pi_1', currency: 'usd' } }],
    [
      'an amount in words',
      'payment_intent.succeeded',
      { object: { id: 'pi_1', currency: 'usd', amount_received: 'NaN' } },
    ],
    ['no currency', 'payment_intent.succeeded', { object: { id: 'pi_1', amount_received: 5 } }],
    ['no id', 'payment_intent.succeeded', { object: { amount_received: 5, currency: 'usd' } }],
    ['no object', 'payment_intent.succeeded', {}],
    ['no object', 'charge.refunded', { previous_attributes: refunded }],
    ['no amount', 'charge.refunded', { object: { id: 'ch_1', currency: 'usd' }, previous_attributes: refunded }],
    [
      'no word of what was refunded before',
      'charge.refunded',
      { object: { id: 'ch_1', currency: 'usd', amount_refunded: 5 } },
    ],
    [
      'less refunded than before',
      'charge.refunded',
      { object: { id: 'ch_1', currency: 'usd', amount_refunded: 5 }, previous_attributes: { amount_refunded: 6 } },
    ],
  ])(
    'PAY-04 an event of Stripe with %s (%s) is a dead letter at once, and nothing is written or passed on',
    async (_, type, data) => {
      await open();
      await sendStripe({ ...stripeEvent(type), data });
      await expectRefused();
    },
  );

  it.each<[string, string, object]>([
    ['no resource', 'PAYMENT.CAPTURE.COMPLETED', { resource: null }],
    ['no amount', 'PAYMENT.CAPTURE.COMPLETED', { resource: { id: 'a' } }],
    [
      'an amount in words',
      'PAYMENT.CAPTURE.COMPLETED',
      { resource: { id: 'a', amount: { value: 'free', currency_code: 'USD' } } },
    ],
    ['no currency', 'PAYMENT.CAPTURE.COMPLETED', { resource: { id: 'a', amount: { value: '30.00' } } }],
    ['no time', 'PAYMENT.CAPTURE.COMPLETED', { create_time: 'soon' }],
    [
      'no capture',
      'PAYMENT.CAPTURE.REFUNDED',
      { resource: { id: 'a', amount: { value: '1', currency_code: 'USD' }, links: {} } },
    ],
  ])(
    'PAY-04 an event of PayPal with %s (%s) is a dead letter at once, and nothing is written or passed on',
    async (_, type, fields) => {
      await open();
      await sendPaypal(type, { fields });
      await expectRefused();
    },
  );

  async function expectRefused(): Promise<void> {
    await attempts(1);
    expect(await deadLetters()).toMatchObject([{ lastAttempt: { error: 'permanent' } }]);
    expect(ledger.entries()).toEqual([]);
    expect(fulfilment.arrivals).toEqual([]);
    await onCall.arrived(1);
  }

  it('PAY-10 what another key signed is refused and not entered', async () => {
    await open();
    const stranger = authority.issue('mallory.example');
    expect((await sendPaypal('PAYMENT.CAPTURE.COMPLETED', { by: stranger })).status).toBe(401);
    expect(ledger.entries()).toEqual([]);
  });

  it('PAY-02 PAY-03 PAY-05 tries again after 1, 5 and 15 minutes; the fourth failure is a dead letter that on-call hears of', async () => {
    await open(503, 429, 503, 503);
    const { id } = stripeEvent('payment_intent.succeeded');
    await sendStripe({ ...stripeEvent('payment_intent.succeeded'), id });
    for (const [n, waitMs] of [60_000, 300_000, 900_000].entries()) {
      await attempts(n + 1);
      expect(await deadLetters()).toEqual([]);
      await clock.advance(waitMs - 1);
      expect(recorded).toBe(n + 1);
      await clock.advance(1);
    }
    await attempts(4);
    expect(await deadLetters()).toMatchObject([{ lastAttempt: { status: 503 } }]);
    await onCall.arrived(1);
    expect(JSON.parse(String(onCall.arrivals[0]?.body))).toMatchObject({ text: 'Webhook moved to DLQ', eventId: id });
    // The ledger has had it since the first attempt, once.
    expect(ledger.entries()).toHaveLength(1);
  });

  it('PAY-03 a success on a later attempt ends it, and nobody is woken', async () => {
    await open(503, 503);
    await sendStripe(stripeEvent('payment_intent.succeeded'));
    await attempts(1);
    await clock.advance(60_000);
    await attempts(2);
    await clock.advance(300_000);
    await attempts(3);
    expect(await deadLetters()).toEqual([]);
    expect(onCall.arrivals).toHaveLength(0);
    expect(ledger.entries()).toHaveLength(1);
  });

  it.each([400, 401, 403])('PAY-04 PAY-05 a %d is a dead letter at once', async (status) => {
    await open(status);
    await sendPaypal('PAYMENT.CAPTURE.COMPLETED');
    await attempts(1);
    await until(clock, async () => (await deadLetters()).length === 1);
    await onCall.arrived(1);
    expect(JSON.parse(String(onCall.arrivals[0]?.body))).toMatchObject({ eventId: 'WH-a' });
  });

  it('PAY-05 an alert that on-call does not take is tried again', async () => {
    await onCall.close();
    onCall = await startReceiver(503, 500);
    await open(400);
    await sendPaypal('PAYMENT.CAPTURE.COMPLETED');
    await attempts(1);
    await onCall.arrived(3);
    expect(onCall.arrivals.map(({ body }) => JSON.parse(String(body)).eventId)).toEqual(['WH-a', 'WH-a', 'WH-a']);
  });

  it('PAY-09 the weekly report groups dead letters by source, event type and error', async () => {
    await open(400, 400, 403);
    await sendStripe(stripeEvent('payment_intent.succeeded'));
    await attempts(1);
    await sendStripe(stripeEvent('payment_intent.succeeded'));
    await attempts(2);
    await sendPaypal('PAYMENT.CAPTURE.COMPLETED');
    await attempts(3);
    await until(clock, async () => (await deadLetters()).length === 3);
    const text = formatReport(await payments.hooks.deadLetters.report());
    expect(text).toMatch(
      /^Dead letters, .*: 3 in 2 groups\n\n +2 {2}source stripe {2}payment_intent\.succeeded\n.*400/,
    );
    expect(text).toMatch(
      / +1 {2}source paypal {2}PAYMENT\.CAPTURE\.COMPLETED\n.*403.*\n +first .*, last .*\n +example dlv_/,
    );
  });
});
