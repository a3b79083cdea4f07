import { defineProvider } from './define-provider.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import { hmacScheme } from './hmac-scheme.ts';
import { batchId, batchType, inboundEvent } from './inbound-event.ts';
import { arrayBody, at, type Json, parseObject } from './json-body.ts';
import { one } from './settings.ts';

/** HubSpot signs the URL with these decoded and everything else as it was sent (its page on request validation). */
const DECODED: Readonly<Record<string, string>> = {
  '%3A': ':',
  '%2F': '/',
  '%3F': '?',
  '%40': '@',
  '%21': '!',
  '%24': '$',
  '%27': "'",
  '%28': '(',
  '%29': ')',
  '%2A': '*',
  '%2C': ',',
  '%3B': ';',
};

export const hubspot = defineProvider({
  name: 'hubspot',
  title: 'HubSpot',
  doc: 'X-HubSpot-Signature-v3: HMAC-SHA256 over method, URL, body and timestamp; older signatures are not taken; what a workflow sends is of type webhook',
  settings: {
    clientSecret: { doc: "the app's client secret, on its Auth page", required: true, secret: true, list: true },
    url: { doc: 'the target URL exactly as the app has it, when a proxy changes what arrives here' },
  },
  toleranceMs: 5 * MINUTE_MS,
  // 10 retries over 24 hours (developers.hubspot.com, Webhooks); those of workflows go on for three days.
  dedupeForMs: 4 * DAY_MS,
  ...hmacScheme({
    secret: 'clientSecret',
    algorithm: 'sha256',
    encoding: 'base64',
    header: 'x-hubspot-signature-v3',
    timestamp: { header: 'x-hubspot-request-timestamp', unit: 'ms' },
    content: (request, timestamp, settings) => [
      request.method + signedUrl(one(settings, 'url') ?? request.url),
      request.body,
      timestamp,
    ],
  }),
  eventOf(request) {
    // A workflow sends the record itself, which says neither a type nor an id. Refused with a 4xx, it would not come again.
    if (parseObject(request.body) !== undefined) return inboundEvent({ type: 'webhook' });
    const events = arrayBody(request);
    const occurredAt = at(events[0], 'occurredAt');
    return inboundEvent({
      id: batchId(events.map(idOf)),
      type: batchType(events.map((event) => at(event, 'subscriptionType'))),
      createdAt: typeof occurredAt === 'number' ? occurredAt : undefined,
    });
  },
  samples: {
    'contact.creation': ({ token, now }) => ({
      body: [
        {
          eventId: numberOf(token),
          subscriptionId: 25,
          portalId: 33,
          occurredAt: now,
          subscriptionType: 'contact.creation',
          attemptNumber: 0,
          objectId: 123,
          changeSource: 'CRM',
          changeFlag: 'NEW',
        },
      ],
    }),
  },
});

/** HubSpot's eventId alone is "not guaranteed to be unique", and attemptNumber changes on retries. */
function idOf(event: Json): string | undefined {
  const parts = ['eventId', 'subscriptionId', 'objectId', 'occurredAt'].map((name) => at(event, name));
  return parts[0] === undefined ? undefined : parts.join(':');
}

function signedUrl(url: string): string {
  return url.replace(/%[0-9a-f]{2}/gi, (code) => DECODED[code.toUpperCase()] ?? code);
}

/** HubSpot's ids are numbers. */
function numberOf(token: string): number {
  let sum = 1;
  for (const letter of token) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_000_007;
  return sum;
}
