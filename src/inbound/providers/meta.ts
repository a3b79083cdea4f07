import { defineProvider } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { hmacScheme } from './hmac-scheme.ts';
import { batchType, inboundEvent } from './inbound-event.ts';
import { at, type Json, objectBody, textAt } from './json-body.ts';
import type { InboundRequest, Verdict } from './provider.ts';
import { isOneOf, textDigest } from './same-text.ts';
import { all } from './settings.ts';
import { refused, textAnswer } from './verdict.ts';

const signature = hmacScheme({
  secret: 'appSecret',
  algorithm: 'sha256',
  encoding: 'hex',
  header: 'x-hub-signature-256',
  prefix: 'sha256=',
});

export const meta = defineProvider({
  name: 'meta',
  aliases: ['facebook', 'instagram', 'whatsapp'],
  title: 'Meta (WhatsApp, Messenger, Instagram)',
  doc: 'X-Hub-Signature-256: HMAC-SHA256 over the body; the GET with hub.challenge is answered',
  settings: {
    appSecret: { doc: "the app's secret, under App settings > Basic", required: true, secret: true, list: true },
    verifyToken: { doc: 'the verify token that you typed beside the callback URL', secret: true, list: true },
  },
  // WhatsApp retries for 7 days, the Graph API for 36 hours (developers.facebook.com).
  dedupeForMs: 8 * DAY_MS,
  prepare(settings, toleranceMs) {
    const verify = signature.prepare(settings, toleranceMs);
    const tokens = all(settings, 'verifyToken').map(textDigest);
    return (request, ports) => (request.method === 'GET' ? challenge(request, tokens) : verify(request, ports));
  },
  sign: signature.sign,
  eventOf(request) {
    const body = objectBody(request);
    return inboundEvent({ id: idOf(body), type: typeOf(body) });
  },
  samples: {
    'whatsapp_business_account.messages': ({ token, now }) => ({
      body: {
        object: 'whatsapp_business_account',
        entry: [
          {
            id: '102290129340398',
            changes: [
              {
                field: 'messages',
                value: {
                  messaging_product: 'whatsapp',
                  metadata: { display_phone_number: '15550783881', phone_number_id: '106540352242922' },
                  contacts: [{ profile: { name: 'Sheena' }, wa_id: '16505551234' }],
                  messages: [
                    {
                      from: '16505551234',
                      id: `wamid.${token}`,
                      timestamp: String(Math.floor(now / 1000)),
                      type: 'text',
                      text: { body: 'Is it in stock?' },
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    }),
    'page.feed': ({ token, now }) => ({
      body: {
        object: 'page',
        entry: [
          {
            id: '0',
            time: Math.floor(now / 1000),
            changes: [{ field: 'feed', value: { item: 'status', verb: 'add', post_id: `0_${token}` } }],
          },
        ],
      },
    }),
  },
});

function challenge(request: InboundRequest, tokens: readonly Buffer[]): Verdict {
  if (tokens.length === 0) return refused('a verification GET, but the source has no verifyToken');
  const query = new URLSearchParams(request.url.split('?')[1] ?? '');
  if (query.get('hub.mode') !== 'subscribe') return refused('a GET that is not a verification');
  if (!isOneOf(query.get('hub.verify_token') ?? '', tokens)) return refused('hub.verify_token matches no verifyToken');
  const text = query.get('hub.challenge') ?? '';
  return /^[\w-]{1,256}$/.test(text) ? textAnswer(text) : refused('hub.challenge is not a short word');
}

function typeOf(body: Json): unknown {
  const object = textAt(body, 'object');
  const fields = object !== undefined && Array.isArray(body.entry) ? body.entry.flatMap(fieldsOf) : [];
  if (fields.length === 0) return object;
  return batchType(fields.map((field) => (field === undefined ? object : `${object}.${field}`)));
}

/** What an entry tells of; Messenger names no field for its messages. */
function fieldsOf(entry: unknown): readonly (string | undefined)[] {
  const changes = at(entry, 'changes');
  const fields = Array.isArray(changes) ? changes.map((change) => textAt(change, 'field')) : [];
  if (at(entry, 'messaging') !== undefined) fields.push('messages');
  return fields.length === 0 ? [undefined] : fields;
}

/**
 * WhatsApp's messages and their statuses have ids; other objects have none. Meta puts up to 1000 changes in a request: the
 * id of one of them must not stand for the rest, so that a batch is known by its bytes.
 */
function idOf(body: Json): string | undefined {
  const value = at(only(at(only(body.entry), 'changes')), 'value');
  const [messages, statuses] = [at(value, 'messages'), at(value, 'statuses')];
  const item = messages === undefined ? only(statuses) : statuses === undefined ? only(messages) : undefined;
  const id = textAt(item, 'id');
  if (id === undefined || messages !== undefined) return id;
  const status = textAt(item, 'status');
  return status === undefined ? undefined : `${id}.${status}`;
}

function only(list: unknown): unknown {
  return Array.isArray(list) && list.length === 1 ? list[0] : undefined;
}
