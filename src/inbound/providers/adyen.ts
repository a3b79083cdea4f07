import { invalid } from '../../errors.ts';
import { defineProvider } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { decode } from './encoded.ts';
import { hmacKeys, isHmac, signHmac } from './hmac.ts';
import { batchId, batchType, inboundEvent } from './inbound-event.ts';
import { at, isObject, type Json, objectBody, parseUnverified, textAt } from './json-body.ts';
import type { InboundRequest } from './provider.ts';
import { all, type SettingValues } from './settings.ts';
import { parseTimestamp } from './timestamp.ts';
import { refused, VERIFIED } from './verdict.ts';

/** Adyen sends one item in a JSON webhook; the format allows more. */
const MOST_ITEMS = 100;

export const adyen = defineProvider({
  name: 'adyen',
  title: 'Adyen',
  doc: 'additionalData.hmacSignature in each item: HMAC-SHA256 over eight of its fields, which are all that is signed',
  settings: {
    hmacKey: {
      doc: 'the HMAC key of the standard webhook, hex digits, from the Customer Area',
      required: true,
      secret: true,
      list: true,
    },
  },
  // Retried for up to 30 days (docs.adyen.com, Handle webhook events).
  dedupeForMs: 31 * DAY_MS,
  accepted: { status: 200, headers: { 'content-type': 'text/plain' }, body: '[accepted]' },
  prepare(settings) {
    const keys = keysOf(settings);
    return (request) => {
      const items = itemsOf(parseUnverified(request.body));
      if (items === undefined) return refused('the body is not JSON of at most 512 KiB with notificationItems');
      for (const item of items) {
        const signature = decode(textAt(item, 'additionalData', 'hmacSignature') ?? '', 'base64', 32);
        if (signature === undefined) return refused('an item has no readable hmacSignature');
        const content = signedText(item);
        if (content === undefined) return refused('an item lacks a field that is signed, or has one of another kind');
        if (!isHmac('sha256', keys, [content], [signature]))
          return refused('an hmacSignature matches none of the keys');
      }
      return VERIFIED;
    };
  },
  sign(request, settings) {
    const body = objectBody(request);
    const keys = keysOf(settings);
    const notificationItems = items(request).map((item) => {
      const content = signedText(item);
      if (content === undefined) throw invalid(['body'], 'an item lacks a field that is signed');
      const hmacSignature = signHmac('sha256', keys, [content]).toString('base64');
      const additionalData = { ...(isObject(item.additionalData) ? item.additionalData : {}), hmacSignature };
      return { NotificationRequestItem: { ...item, additionalData } };
    });
    return { ...request, body: Buffer.from(JSON.stringify({ ...body, notificationItems })) };
  },
  eventOf(request) {
    const list = items(request);
    const ids = list.map(
      (item) => `${String(at(item, 'pspReference'))}.${String(at(item, 'eventCode'))}.${String(at(item, 'success'))}`,
    );
    return inboundEvent({
      id: ids.length === 1 ? ids[0] : batchId(ids),
      type: batchType(list.map((item) => at(item, 'eventCode'))),
      createdAt: parseTimestamp(textAt(list[0], 'eventDate') ?? '', 'iso'),
    });
  },
  samples: {
    AUTHORISATION: ({ token, now }) => ({ body: notification('AUTHORISATION', token, now) }),
    REFUND: ({ token, now }) => ({ body: notification('REFUND', token, now) }),
  },
});

function keysOf(settings: SettingValues) {
  const keys = all(settings, 'hmacKey');
  if (!keys.every((key) => key.length % 2 === 0 && /^[0-9a-f]+$/i.test(key))) {
    throw invalid(['settings', 'hmacKey'], 'must be hex digits, an even number of them');
  }
  return hmacKeys(keys, 'hex');
}

function itemsOf(body: unknown): readonly Json[] | undefined {
  const list = at(body, 'notificationItems');
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST_ITEMS) return undefined;
  const found = list.map((entry) => at(entry, 'NotificationRequestItem'));
  return found.every(isObject) ? found : undefined;
}

function items(request: InboundRequest): readonly Json[] {
  const found = itemsOf(objectBody(request));
  if (found === undefined) throw invalid(['body'], 'has no notificationItems, which Adyen sends');
  return found;
}

/**
 * The fields that Adyen signs, joined as its libraries join them: a colon in a value is not escaped. Only the reference that is
 * the merchant's own may have one: if others could, a signature would also fit the same text cut in other places.
 */
function signedText(item: Json): string | undefined {
  const before = [at(item, 'pspReference'), at(item, 'originalReference') ?? '', at(item, 'merchantAccountCode')];
  const reference = at(item, 'merchantReference') ?? '';
  const { value, currency } = (isObject(item.amount) ? item.amount : {}) as Json;
  const after = [value, currency, at(item, 'eventCode'), at(item, 'success')];
  if (![...before, ...after].every((field) => isPlain(field) && !String(field).includes(':'))) return undefined;
  return isPlain(reference) ? [...before, reference, ...after].join(':') : undefined;
}

function isPlain(field: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof field);
}

function notification(eventCode: string, token: string, now: number): object {
  return {
    live: 'false',
    notificationItems: [
      {
        NotificationRequestItem: {
          additionalData: {},
          amount: { currency: 'EUR', value: 1130 },
          eventCode,
          eventDate: new Date(now).toISOString(),
          merchantAccountCode: 'TestMerchant',
          merchantReference: `order-${token}`,
          operations: ['CANCEL', 'CAPTURE', 'REFUND'],
          paymentMethod: 'visa',
          pspReference: token,
          success: 'true',
        },
      },
    ],
  };
}
