import { defineProvider } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { header } from './header.ts';
import { hmacScheme } from './hmac-scheme.ts';
import { inboundEvent } from './inbound-event.ts';
import type { InboundRequest } from './provider.ts';
import { parseTimestamp } from './timestamp.ts';

export const shopify = defineProvider({
  name: 'shopify',
  title: 'Shopify',
  doc: 'X-Shopify-Hmac-Sha256: HMAC-SHA256 over the body; id and topic come in headers that are not signed; the topic orders/create becomes the type orders.create',
  settings: {
    clientSecret: { doc: "the app's client secret", required: true, secret: true, list: true },
  },
  // 8 retries over 4 hours (shopify.dev changelog, 2024-09-10).
  dedupeForMs: 2 * DAY_MS,
  ...hmacScheme({
    secret: 'clientSecret',
    algorithm: 'sha256',
    encoding: 'base64',
    header: 'x-shopify-hmac-sha256',
  }),
  eventOf: (request) =>
    inboundEvent({
      id: idOf(request),
      type: header(request, 'x-shopify-topic'),
      createdAt: parseTimestamp(header(request, 'x-shopify-triggered-at') ?? '', 'iso'),
    }),
  samples: {
    'orders.create': ({ token, now }) => ({
      headers: {
        'x-shopify-topic': 'orders/create',
        'x-shopify-event-id': `event-${token}`,
        'x-shopify-webhook-id': `webhook-${token}`,
        'x-shopify-shop-domain': 'example.myshopify.com',
        'x-shopify-triggered-at': new Date(now).toISOString(),
      },
      body: {
        id: 820982911946154500,
        created_at: new Date(now).toISOString(),
        currency: 'USD',
        email: 'jon@example.com',
        financial_status: 'paid',
        line_items: [{ id: 1, title: 'Tea', quantity: 2, price: '10.00' }],
        name: '#1001',
        total_price: '20.00',
      },
    }),
    'app.uninstalled': ({ token, now }) => ({
      headers: {
        'x-shopify-topic': 'app/uninstalled',
        'x-shopify-event-id': `event-${token}`,
        'x-shopify-webhook-id': `webhook-${token}`,
        'x-shopify-shop-domain': 'example.myshopify.com',
        'x-shopify-triggered-at': new Date(now).toISOString(),
      },
      body: { id: 548380009, name: 'Example', domain: 'example.myshopify.com' },
    }),
  },
});

/**
 * The id of the delivery. Shopify's page on duplicates names the event id (shopify.dev, Ignore duplicate webhooks), and does not
 * say what a retry does to that of the delivery, which an earlier version of the page named. But one action of a merchant has one
 * event id for all that it touches, several things of one topic among them: by that id, all but the first of them would be copies.
 * To handle a retry twice can be mended by its handler, to drop an event cannot. So two subscriptions to one topic are two events.
 */
function idOf(request: InboundRequest): string | undefined {
  const delivery = header(request, 'x-shopify-webhook-id');
  if (delivery !== undefined) return delivery;
  const action = header(request, 'x-shopify-event-id');
  return action === undefined ? undefined : `${action}.${header(request, 'x-shopify-topic')}`;
}
