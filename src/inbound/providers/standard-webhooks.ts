import { createSigner, createVerifier, readSignedHeaders } from '../../signing/index.ts';
import { defineProvider } from './define-provider.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import { header, withHeaders } from './header.ts';
import { inboundEvent } from './inbound-event.ts';
import { type Json, parseObject, textAt } from './json-body.ts';
import { all } from './settings.ts';
import { parseTimestamp } from './timestamp.ts';
import { refused, VERIFIED } from './verdict.ts';

export const standardWebhooks = defineProvider({
  name: 'standard-webhooks',
  aliases: ['svix', 'clerk', 'resend'],
  title: 'Standard Webhooks (Svix, Clerk, Resend, Posthorn and others)',
  doc: 'webhook-signature or svix-signature: v1 (HMAC-SHA256) or v1a (ed25519) over id, timestamp and body',
  settings: {
    secret: {
      doc: 'whsec_… of the endpoint, or whpk_… when the sender signs with ed25519',
      required: true,
      secret: true,
      list: true,
    },
  },
  toleranceMs: 5 * MINUTE_MS,
  // The specification's example schedule lasts 75 hours; Svix's lasts 28.
  dedupeForMs: 4 * DAY_MS,
  prepare(settings, toleranceMs) {
    const verifier = createVerifier(all(settings, 'secret'));
    return (request, { now }) => {
      const result = verifier.verify(request.headers, request.body, {
        nowS: Math.floor(now / 1000),
        toleranceS: toleranceMs / 1000,
      });
      return result.ok ? VERIFIED : refused(result.reason.replaceAll('_', ' '));
    };
  },
  sign(request, settings, now) {
    const id = header(request, 'webhook-id') ?? 'msg_sample';
    const timestampS = Math.floor(now / 1000);
    return withHeaders(request, {
      'webhook-id': id,
      'webhook-timestamp': String(timestampS),
      'webhook-signature': createSigner(all(settings, 'secret')).sign(id, timestampS, request.body),
    });
  },
  eventOf(request) {
    const body = parseObject(request.body);
    return inboundEvent({
      // Of the headers that were verified: another id beside them would make one signed request many events.
      id: readSignedHeaders(request.headers)?.messageId,
      type: typeOf(body),
      createdAt: parseTimestamp(textAt(body, 'timestamp') ?? '', 'iso'),
    });
  },
  samples: {
    'user.created': ({ token, now }) => ({
      headers: { 'webhook-id': `msg_${token}` },
      body: {
        type: 'user.created',
        timestamp: new Date(now).toISOString(),
        data: { id: `user_${token}`, email: 'jane@example.com' },
      },
    }),
    'email.delivered': ({ token, now }) => ({
      headers: { 'webhook-id': `msg_${token}` },
      body: {
        type: 'email.delivered',
        timestamp: new Date(now).toISOString(),
        data: { email_id: `email_${token}`, to: ['jane@example.com'], subject: 'Hello' },
      },
    }),
  },
});

/** The specification asks for `type`; Svix leaves the body to its users, and what they signed is theirs whatever it says. */
function typeOf(body: Json | undefined): string {
  const named = ['type', 'event_type', 'eventType', 'event'].map((name) => textAt(body, name));
  return named.find((text) => text !== undefined && text !== '') ?? 'webhook';
}
