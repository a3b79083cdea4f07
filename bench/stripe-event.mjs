// The event that a provider sends to contestants that receive: 1,024 bytes of JSON in Stripe's form, signed as Stripe does.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { EVENT_TYPE, PAYLOAD_BYTES } from './event.mjs';

export const STRIPE_SECRET = 'whsec_of_the_bench';
const KEY = createSecretKey(Buffer.from(STRIPE_SECRET));
const TOLERANCE_S = 300;

const ID = 'evt_000000000000';
const [HEAD, TAIL] = paddedTo(PAYLOAD_BYTES).split(ID);

/** Each has an id of its own, so that none is a copy. */
export function stripeRequest(path, number) {
  const body = `${HEAD}evt_${String(number).padStart(12, '0')}${TAIL}`;
  const timestampS = Math.floor(Date.now() / 1000);
  const signature = hmac(String(timestampS), body).toString('hex');
  const headers = { 'content-type': 'application/json', 'stripe-signature': `t=${timestampS},v1=${signature}` };
  return { method: 'POST', path, headers, body };
}

/** What a route that is written by hand does. */
export function isFromStripe(header, body) {
  const [, timestampS, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? [];
  if (timestampS === undefined || Math.abs(Date.now() / 1000 - Number(timestampS)) > TOLERANCE_S) return false;
  return timingSafeEqual(hmac(timestampS, body), Buffer.from(signature, 'hex'));
}

function hmac(timestampS, body) {
  return createHmac('sha256', KEY).update(`${timestampS}.`).update(body).digest();
}

function paddedTo(bytes) {
  const object = { id: 'in_1', object: 'invoice', customer: 'cus_81b2', currency: 'mxn', total: 184950, memo: '' };
  const event = {
    id: ID,
    object: 'event',
    type: EVENT_TYPE,
    created: 1_768_046_400,
    livemode: false,
    data: { object },
  };
  object.memo = 'x'.repeat(bytes - Buffer.byteLength(JSON.stringify(event)));
  return JSON.stringify(event);
}
