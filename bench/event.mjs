// The event that every contestant sends: 1,024 bytes of JSON, signed by Standard Webhooks (HMAC-SHA256).
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

const KEY = Buffer.from('a key of 24 bytes: bench');
const SIGNING_KEY = createSecretKey(KEY);
export const SECRET = `whsec_${KEY.toString('base64')}`;

export const EVENT_TYPE = 'invoice.paid';
export const PAYLOAD_BYTES = 1024;
export const payload = paddedTo(PAYLOAD_BYTES, {
  type: EVENT_TYPE,
  timestamp: '2026-01-10T12:00:00.000Z',
  data: {
    id: 'inv_5f2a9c',
    customer: { id: 'cus_81b2', name: 'Abarrotes La Esquina', email: 'caja@example.com' },
    currency: 'mxn',
    total: 184950,
    lines: Array.from({ length: 6 }, (_, index) => ({ sku: `SKU-${1000 + index}`, quantity: index + 1, price: 4250 })),
    memo: '',
  },
});

/** For contestants that sign for themselves. Posthorn signs with its own code, from the same secret. */
export function signedHeaders(id, body) {
  const timestampS = Math.floor(Date.now() / 1000);
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': signature(id, timestampS, body),
  };
}

/** What is wrong with a request as the sink got it, or undefined. */
export function faultOf(headers, body) {
  const id = headers['webhook-id'];
  if (id === undefined) return 'it has no webhook-id';
  if (body.length !== PAYLOAD_BYTES) return `its body has ${body.length} bytes instead of ${PAYLOAD_BYTES}`;
  const expected = Buffer.from(signature(id, headers['webhook-timestamp'], body));
  const given = Buffer.from(headers['webhook-signature'] ?? '');
  return expected.length === given.length && timingSafeEqual(expected, given) ? undefined : 'its signature is wrong';
}

function signature(id, timestampS, body) {
  return `v1,${createHmac('sha256', SIGNING_KEY).update(`${id}.${timestampS}.`).update(body).digest('base64')}`;
}

function paddedTo(bytes, event) {
  const missing = bytes - Buffer.byteLength(JSON.stringify(event));
  return { ...event, data: { ...event.data, memo: 'x'.repeat(missing) } };
}
