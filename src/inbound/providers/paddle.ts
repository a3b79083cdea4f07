import { defineProvider } from './define-provider.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import { inboundEvent } from './inbound-event.ts';
import { objectBody, textAt } from './json-body.ts';
import { listedSignature } from './listed-signature.ts';
import { parseTimestamp } from './timestamp.ts';

export const paddle = defineProvider({
  name: 'paddle',
  title: 'Paddle Billing',
  doc: 'Paddle-Signature: HMAC-SHA256 over the timestamp and the body',
  settings: {
    secretKey: { doc: 'pdl_ntfset_… of the notification destination', required: true, secret: true, list: true },
  },
  // Paddle's libraries allow 5 s, which a slow clock breaks; retries are signed afresh, so that more costs little.
  toleranceMs: 5 * MINUTE_MS,
  // 60 retries over 3 days (developer.paddle.com, Respond to webhooks).
  dedupeForMs: 4 * DAY_MS,
  ...listedSignature({
    secret: 'secretKey',
    header: 'paddle-signature',
    separator: ';',
    timeName: 'ts',
    signatureName: 'h1',
    joint: ':',
  }),
  eventOf(request) {
    const body = objectBody(request);
    return inboundEvent({
      id: body.event_id,
      type: body.event_type,
      createdAt: parseTimestamp(textAt(body, 'occurred_at') ?? '', 'iso'),
    });
  },
  samples: {
    'transaction.completed': ({ token, now }) => ({
      body: notification('transaction.completed', token, now, {
        id: `txn_${token}`,
        status: 'completed',
        currency_code: 'USD',
      }),
    }),
    'subscription.created': ({ token, now }) => ({
      body: notification('subscription.created', token, now, {
        id: `sub_${token}`,
        status: 'active',
        currency_code: 'USD',
      }),
    }),
  },
});

function notification(type: string, token: string, now: number, data: object): object {
  return {
    event_id: `evt_${token}`,
    event_type: type,
    occurred_at: new Date(now).toISOString(),
    notification_id: `ntf_${token}`,
    data: { ...data, customer_id: `ctm_${token}`, created_at: new Date(now).toISOString() },
  };
}
