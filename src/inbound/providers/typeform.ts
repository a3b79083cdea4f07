import { defineProvider } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { hmacScheme } from './hmac-scheme.ts';
import { inboundEvent } from './inbound-event.ts';
import { objectBody, textAt } from './json-body.ts';
import { parseTimestamp } from './timestamp.ts';

export const typeform = defineProvider({
  name: 'typeform',
  title: 'Typeform',
  doc: 'Typeform-Signature: HMAC-SHA256 over the body',
  settings: {
    secret: { doc: 'the secret that you gave the webhook', required: true, secret: true, list: true },
  },
  // Retries every few minutes for about 10 hours (typeform.com/developers/webhooks).
  dedupeForMs: 2 * DAY_MS,
  ...hmacScheme({
    secret: 'secret',
    algorithm: 'sha256',
    encoding: 'base64',
    header: 'typeform-signature',
    prefix: 'sha256=',
  }),
  eventOf(request) {
    const body = objectBody(request);
    return inboundEvent({
      id: body.event_id,
      type: body.event_type,
      createdAt: parseTimestamp(textAt(body, 'form_response', 'submitted_at') ?? '', 'iso'),
    });
  },
  samples: {
    form_response: ({ token, now }) => ({
      body: {
        event_id: token,
        event_type: 'form_response',
        form_response: {
          form_id: 'lT4Z3j',
          token,
          submitted_at: new Date(now).toISOString(),
          definition: {
            id: 'lT4Z3j',
            title: 'Feedback',
            fields: [{ id: 'a1', title: 'How was it?', type: 'short_text' }],
          },
          answers: [{ type: 'text', text: 'Good', field: { id: 'a1', type: 'short_text' } }],
        },
      },
    }),
  },
});
