import { createHash } from 'node:crypto';
import { invalid } from '../../errors.ts';
import { defineProvider, type Sample } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { decode } from './encoded.ts';
import { header, withHeaders } from './header.ts';
import { hmacKeys, isHmac, signHmac } from './hmac.ts';
import { inboundEvent } from './inbound-event.ts';
import { parseObject, textAt, viewOf } from './json-body.ts';
import type { InboundRequest } from './provider.ts';
import { isOneOf, textDigest } from './same-text.ts';
import { all, one, type SettingValues } from './settings.ts';
import { portVariants } from './twilio-url.ts';
import { refused, VERIFIED } from './verdict.ts';

const SIGNATURE = 'x-twilio-signature';
/** New for each event and the same on its retries; not signed. */
const TOKEN = 'i-twilio-idempotency-token';
const BODY_HASH = 'bodySHA256';
const UNTYPED = 'webhook';
const LONGEST_WORD = 200;
/** Twilio's own requests have some dozens; sorting a stranger's million must not be possible. */
const MOST_FIELDS = 1000;

export const twilio = defineProvider({
  name: 'twilio',
  title: 'Twilio',
  doc: 'X-Twilio-Signature: HMAC-SHA1 over the URL and the sorted form fields, or over a URL that holds the hash of the body; the id comes in a header that is not signed',
  settings: {
    authToken: { doc: 'the auth token of the account, on the console', required: true, secret: true, list: true },
    url: { doc: 'the URL exactly as Twilio has it, when a proxy changes what arrives here' },
  },
  // Twilio retries connection failures at once, 5 times at most; a day also covers messages sent again by hand.
  dedupeForMs: DAY_MS,
  // Twilio reads the answer as TwiML: an empty document does nothing, JSON would be reported as an error.
  accepted: { status: 200, headers: { 'content-type': 'text/xml' }, body: '<Response/>' },
  prepare(settings) {
    const keys = hmacKeys(all(settings, 'authToken'));
    return (request) => {
      const text = header(request, SIGNATURE);
      if (text === undefined) return refused(`no ${SIGNATURE} header`);
      const signature = decode(text, 'base64', 20);
      if (signature === undefined) return refused(`${SIGNATURE} is not base64 of 20 bytes`);
      const url = signedUrl(request, settings);
      const fields = signedFields(request, url);
      if (typeof fields !== 'string') return refused(fields.problem);
      return portVariants(url).some((variant) => isHmac('sha1', keys, [variant, fields], [signature]))
        ? VERIFIED
        : refused('the signature matches none of the auth tokens for this URL');
    };
  },
  sign(request, settings) {
    const sent = isForm(request) ? request : { ...request, url: withBodyHash(request.url, request.body) };
    const url = signedUrl(sent, settings);
    const fields = signedFields(sent, url);
    if (typeof fields !== 'string') throw invalid(['body'], fields.problem);
    const signature = signHmac('sha1', hmacKeys(all(settings, 'authToken')), [url, fields]).toString('base64');
    return withHeaders(sent, { [SIGNATURE]: signature });
  },
  eventOf(request) {
    // A sid names a call or a message, not what happened to it: one call posts several forms with the same sid and status.
    return inboundEvent({ id: header(request, TOKEN), type: typeOf(request) });
  },
  samples: {
    'message.delivered': ({ token }) =>
      form({ MessageSid: `SM${token}`, MessageStatus: 'delivered', To: '+15558675310', From: '+15017122661' }),
    'message.received': ({ token }) =>
      form({
        MessageSid: `SM${token}`,
        SmsStatus: 'received',
        Body: 'Hello & good bye',
        NumMedia: '0',
        From: '+15558675310',
        To: '+15017122661',
      }),
    'call.completed': ({ token }) =>
      form({ CallSid: `CA${token}`, CallStatus: 'completed', Duration: '1', From: '+15558675310', To: '+15017122661' }),
  },
});

function form(fields: Readonly<Record<string, string>>): Sample {
  const body = new URLSearchParams({
    AccountSid: 'AC00000000000000000000000000000000',
    ApiVersion: '2010-04-01',
    ...fields,
  });
  return { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: body.toString() };
}

function isForm(request: InboundRequest): boolean {
  return (header(request, 'content-type') ?? '').toLowerCase().startsWith('application/x-www-form-urlencoded');
}

/** The URL as Twilio has it, to which it adds the hash of a body that is no form. */
function signedUrl(request: InboundRequest, settings: SettingValues): string {
  const own = one(settings, 'url');
  if (own === undefined) return request.url;
  return isForm(request) || queryValue(own, BODY_HASH) !== undefined ? own : withBodyHash(own, request.body);
}

/** What follows the URL in the signed text; or why the body cannot be what was signed. */
function signedFields(request: InboundRequest, url: string): string | { readonly problem: string } {
  if (isForm(request)) {
    const names = new Map<string, Set<string>>();
    let count = 0;
    for (const [name, value] of new URLSearchParams(viewOf(request.body).toString())) {
      count += 1;
      if (count > MOST_FIELDS) return { problem: `the form has more than ${MOST_FIELDS} fields` };
      names.set(name, (names.get(name) ?? new Set()).add(value));
    }
    return [...names.keys()]
      .sort()
      .map((name) =>
        [...(names.get(name) ?? [])]
          .sort()
          .map((value) => name + value)
          .join(''),
      )
      .join('');
  }
  const hash = queryValue(url, BODY_HASH);
  if (hash === undefined) return { problem: `neither a form nor a URL with ${BODY_HASH}` };
  return isOneOf(hash, [textDigest(hashOf(request.body))])
    ? ''
    : { problem: `${BODY_HASH} is not the hash of the body` };
}

function queryValue(url: string, name: string): string | undefined {
  const start = url.indexOf('?');
  return start < 0 ? undefined : (new URLSearchParams(url.slice(start + 1)).get(name) ?? undefined);
}

function withBodyHash(url: string, body: Uint8Array): string {
  return `${url}${url.includes('?') ? '&' : '?'}${BODY_HASH}=${hashOf(body)}`;
}

function hashOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

/** Twilio has more kinds of requests than can be listed here: those that nothing is known of are still events. */
function typeOf(request: InboundRequest): string {
  if (!isForm(request)) {
    const body = parseObject(request.body);
    return named(textAt(body, 'EventType') ?? textAt(body, 'type')) ?? UNTYPED;
  }
  const fields = new URLSearchParams(viewOf(request.body).toString());
  const field = (name: string) => named(fields.get(name));
  const eventType = field('EventType');
  if (eventType !== undefined) return eventType;
  const [recording, call, message] = [field('RecordingStatus'), field('CallStatus'), field('MessageStatus')];
  if (field('RecordingSid') !== undefined && recording !== undefined) return `recording.${recording}`;
  if (field('MessageSid') !== undefined || field('SmsSid') !== undefined) {
    return `message.${message ?? field('SmsStatus') ?? 'received'}`;
  }
  if (field('CallSid') !== undefined) return `call.${call ?? 'received'}`;
  return UNTYPED;
}

function named(text: string | null | undefined): string | undefined {
  return typeof text === 'string' && text !== '' && text.length <= LONGEST_WORD ? text : undefined;
}
