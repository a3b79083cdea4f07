import { defineProvider } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { hmacScheme } from './hmac-scheme.ts';
import { inboundEvent } from './inbound-event.ts';
import { objectBody, textAt } from './json-body.ts';
import { one } from './settings.ts';
import { parseTimestamp } from './timestamp.ts';

export const square = defineProvider({
  name: 'square',
  title: 'Square',
  doc: 'X-Square-HmacSha256-Signature: HMAC-SHA256 over the notification URL and the body',
  settings: {
    signatureKey: { doc: 'the signature key of the webhook subscription', required: true, secret: true, list: true },
    notificationUrl: { doc: 'the URL exactly as the subscription has it, when a proxy changes what arrives here' },
  },
  // Retries for 24 hours (developer.squareup.com, Webhooks overview).
  dedupeForMs: 3 * DAY_MS,
  ...hmacScheme({
    secret: 'signatureKey',
    algorithm: 'sha256',
    encoding: 'base64',
    header: 'x-square-hmacsha256-signature',
    content: (request, _, settings) => [one(settings, 'notificationUrl') ?? request.url, request.body],
  }),
  eventOf(request) {
    const body = objectBody(request);
    return inboundEvent({
      id: body.event_id,
      type: body.type,
      createdAt: parseTimestamp(textAt(body, 'created_at') ?? '', 'iso'),
    });
  },
  samples: {
    'payment.updated': ({ token, now }) => ({
      body: {
        merchant_id: '6SSW7HV8K2ST5',
        type: 'payment.updated',
        event_id: `event-${token}`,
        created_at: new Date(now).toISOString(),
        data: {
          type: 'payment',
          id: token,
          object: { payment: { id: token, status: 'COMPLETED', amount_money: { amount: 100, currency: 'USD' } } },
        },
      },
    }),
  },
});
