/** What makes two requests one event, and what must not. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSigner } from '../../signing/index.ts';
import type { InboundRequest, ProviderSettings } from './provider.ts';
import { findProvider } from './registry.ts';
import { NOW, portsWith } from './testing/provider-cases.ts';

const URL_CALLED = 'https://example.com/in';

function request(body: object | string, headers: Record<string, string> = {}): InboundRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { method: 'POST', url: URL_CALLED, headers, body: Buffer.from(text) };
}

function verified(name: string, settings: ProviderSettings, signed: InboundRequest) {
  const prepared = findProvider(name).prepare(settings);
  expect(prepared.verify(signed, portsWith('', []))).toEqual({ kind: 'verified' });
  return prepared.eventOf(signed);
}

function eventOf(name: string, settings: ProviderSettings, unsigned: InboundRequest) {
  return verified(name, settings, findProvider(name).sign(unsigned, settings, NOW));
}

describe('twilio', () => {
  const settings = { authToken: 'a'.repeat(32) };
  const form = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    eventOf(
      'twilio',
      settings,
      request(new URLSearchParams(fields).toString(), {
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
      }),
    );

  it('several posts about one call are several events: the idempotency token names each, else its bytes do', () => {
    const [gathered, again] = ['1', '2'].map((Digits) => form({ CallSid: 'CA1', CallStatus: 'in-progress', Digits }));
    expect([gathered?.id, again?.id]).toEqual([undefined, undefined]);
    const named = form({ CallSid: 'CA1', CallStatus: 'ringing' }, { 'i-twilio-idempotency-token': 'token-1' });
    expect(named).toEqual({ id: 'token-1', type: 'call.ringing' });
  });

  it.each([
    [{ CallSid: 'CA1', RecordingSid: 'RE1', RecordingStatus: 'in-progress' }, 'recording.in-progress'],
    [{ CallSid: 'CA1', RecordingSid: 'RE1', RecordingStatus: 'completed' }, 'recording.completed'],
    [{ CallSid: 'CA1', CallStatus: 'ringing' }, 'call.ringing'],
    [{ CallSid: 'CA1' }, 'call.received'],
    [{ MessageSid: 'SM1', MessageStatus: 'sent' }, 'message.sent'],
    [{ EventType: 'onMessageUpdated', MessageSid: 'IM1', ConversationSid: 'CH1' }, 'onMessageUpdated'],
    [{ FaxSid: 'FX1', FaxStatus: 'delivered' }, 'webhook'],
    [{ EventType: '', Level: 'ERROR', Sid: 'NO1' }, 'webhook'],
  ])('a form with %j is an event of type %s, and none is refused', (fields, type) => {
    expect(form(fields)).toEqual({ type });
  });

  it('JSON of any kind is an event', () => {
    const json = (body: object) => eventOf('twilio', settings, request(body));
    expect(json({ Sid: 'EV1', EventType: 'participant-connected' })).toEqual({ type: 'participant-connected' });
    expect(json([{ type: 'com.twilio.messaging.message.sent', id: '1' }])).toEqual({ type: 'webhook' });
  });
});

describe.each([
  ['standard-webhooks', 'secret', { type: 'user.created' }],
  ['gitlab', 'signingToken', { object_kind: 'push' }],
] as const)('%s', (name, setting, body) => {
  const secret = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;
  const settings = { [setting]: secret };
  const timestampS = NOW / 1000;
  const unsigned = request(body);
  const trio = (family: 'svix' | 'webhook') => ({
    [`${family}-id`]: 'msg_1',
    [`${family}-timestamp`]: String(timestampS),
    [`${family}-signature`]: createSigner([secret]).sign('msg_1', timestampS, unsigned.body),
  });

  it('the id is the one that was signed: a header beside it does not make a captured request a new event', () => {
    for (const added of [
      { 'webhook-id': 'msg_forged' },
      { 'webhook-id': 'msg_forged', 'webhook-timestamp': String(timestampS) },
      { 'idempotency-key': 'forged' },
    ]) {
      const event = verified(name, settings, { ...unsigned, headers: { ...trio('svix'), ...added } });
      expect(event.id).toBe('msg_1');
    }
    const both = { ...trio('webhook'), 'svix-id': 'msg_forged', 'idempotency-key': 'forged' };
    expect(verified(name, settings, { ...unsigned, headers: both }).id).toBe('msg_1');
  });
});

describe('meta', () => {
  const change = (id: string) => ({ field: 'messages', value: { messages: [{ id }] } });
  const of = (...entry: object[]) =>
    eventOf('meta', { appSecret: 's1' }, request({ object: 'whatsapp_business_account', entry })).id;

  it('the id of one message stands for a request only where it is all that the request holds', () => {
    expect(of({ changes: [change('wamid.1')] })).toBe('wamid.1');
    expect(of({ changes: [change('wamid.1'), change('wamid.2')] })).toBeUndefined();
    expect(of({ changes: [change('wamid.1')] }, { changes: [change('wamid.2')] })).toBeUndefined();
    const mixed = { messages: [{ id: 'wamid.1' }], statuses: [{ id: 'wamid.0', status: 'read' }] };
    expect(of({ changes: [{ field: 'messages', value: mixed }] })).toBeUndefined();
    expect(of({ changes: [{ field: 'messages', value: { statuses: [{ id: 'wamid.1' }] } }] })).toBeUndefined();
  });
});

describe('what a request with several events is called', () => {
  const ofMeta = (object: string, ...entry: object[]) =>
    eventOf('meta', { appSecret: 's1' }, request({ object, entry })).type;
  const [feed, mention] = [{ field: 'feed' }, { field: 'mention' }];

  it('of Meta it is the type that all changes have, else batch: no change hides behind the first', () => {
    expect(ofMeta('page', { changes: [feed, feed] }, { changes: [feed] })).toBe('page.feed');
    expect(ofMeta('page', { changes: [feed, mention] })).toBe('batch');
    expect(ofMeta('page', { changes: [mention] }, { changes: [feed] })).toBe('batch');
    expect(ofMeta('page', { messaging: [{}] }, { messaging: [{}] })).toBe('page.messages');
    expect(ofMeta('page', { messaging: [{}], changes: [feed] })).toBe('batch');
    expect(ofMeta('page', { changes: [feed] }, {})).toBe('batch');
    expect(ofMeta('instagram', {})).toBe('instagram');
    expect(ofMeta('instagram')).toBe('instagram');
  });

  it('of Adyen it is the code that all items have, else batch', () => {
    const ofAdyen = (...codes: string[]) => {
      const adyen = findProvider('adyen');
      const notificationItems = codes.flatMap((code) => {
        const sample = adyen.sample(code, { now: NOW, token: 'a1' });
        return JSON.parse(sample.body.toString()).notificationItems;
      });
      return eventOf('adyen', { hmacKey: 'ab' }, request({ notificationItems })).type;
    };
    expect(ofAdyen('AUTHORISATION', 'AUTHORISATION')).toBe('AUTHORISATION');
    expect(ofAdyen('AUTHORISATION', 'REFUND')).toBe('batch');
  });
});

describe('standard-webhooks', () => {
  const settings = { secret: `whsec_${Buffer.alloc(32, 'k').toString('base64')}` };

  it.each([
    [{ event: 'prediction.completed' }, 'prediction.completed'],
    [{ event: { id: 1 }, type: '' }, 'webhook'],
    [{ id: 'p1', status: 'succeeded', output: [] }, 'webhook'],
    [['anything'], 'webhook'],
    ['no JSON at all', 'webhook'],
  ])('a signed body %j is an event of type %s: what says no type is not refused', (body, type) => {
    expect(eventOf('svix', settings, request(body))).toMatchObject({ id: 'msg_sample', type });
  });
});

describe('shopify', () => {
  const of = (topic: string, ids: Record<string, string>) =>
    eventOf('shopify', { clientSecret: 's1' }, request({}, { 'x-shopify-topic': topic, ...ids }));

  it('the id of a delivery tells repeats: several things of one topic may come of one action, with its one event id', () => {
    const [one, another] = ['w1', 'w2'].map((id) =>
      of('inventory_levels/update', { 'x-shopify-event-id': 'e1', 'x-shopify-webhook-id': id }),
    );
    expect([one?.id, another?.id]).toEqual(['w1', 'w2']);
  });

  it('without it, one event id in two topics is two events', () => {
    const action = { 'x-shopify-event-id': 'e1' };
    expect(of('orders/create', action)).toEqual({ id: 'e1.orders/create', type: 'orders.create' });
    expect(of('orders/paid', action).id).not.toBe(of('orders/create', action).id);
  });
});

describe('sendgrid', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const settings = { publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') };
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const idOf = (...events: object[]) => {
    const signed = findProvider('sendgrid').sign(request(events), { ...settings, privateKey: pem }, NOW);
    return verified('sendgrid', settings, signed).id;
  };

  it('a batch in which an event has no id has none: unsubscribes of two people are not one', () => {
    expect(idOf({ event: 'open', sg_event_id: 'a' }, { event: 'open', sg_event_id: 'b' })).toMatch(/^batch_/);
    expect(idOf({ event: 'open', sg_event_id: 'a' }, { event: 'unsubscribe' })).toBeUndefined();
    expect(idOf({ event: 'unsubscribe' })).toBeUndefined();
  });
});

describe('hubspot', () => {
  const of = (body: object) => eventOf('hubspot', { clientSecret: 's1' }, request(body));

  it('a batch in which an event has no id has none', () => {
    expect(of([{ subscriptionType: 'contact.creation', eventId: 1 }]).id).toMatch(/^batch_/);
    expect(of([{ subscriptionType: 'contact.creation' }])).toEqual({ type: 'contact.creation' });
  });

  it('the record that a workflow sends is an event: with a 4xx it would not come again', () => {
    expect(of({ vid: 1, properties: {} })).toEqual({ type: 'webhook' });
  });
});

describe('gitlab', () => {
  it('events that one webhook caused share a UUID, and are several all the same', () => {
    const settings = { secretToken: 't1' };
    const of = (headers: Record<string, string>) =>
      eventOf('gitlab', settings, request({ object_kind: 'push' }, { 'x-gitlab-event-uuid': 'u1', ...headers })).id;
    expect(of({})).toBeUndefined();
    expect(of({ 'idempotency-key': 'k1' })).toBe('k1');
  });
});

describe('adyen', () => {
  const settings = { hmacKey: 'ab' };
  const adyen = findProvider('adyen');
  const verdictOf = (change: object) => {
    const { notificationItems } = JSON.parse(adyen.sample('AUTHORISATION', { now: NOW, token: 'p1' }).body.toString());
    const [{ NotificationRequestItem: item }] = notificationItems;
    const signed = adyen.sign(request({ notificationItems }), settings, NOW);
    const [{ NotificationRequestItem: whole }] = JSON.parse(signed.body.toString()).notificationItems;
    expect(item.pspReference).toBe('p1');
    const changed = { notificationItems: [{ NotificationRequestItem: { ...whole, ...change } }] };
    return adyen.prepare(settings).verify(request(changed), portsWith('', []));
  };

  it('a signature does not fit the same text cut in other places: it would be an event of another id', () => {
    expect(verdictOf({})).toEqual({ kind: 'verified' });
    // Signed was p1::TestMerchant:order-p1:…
    expect(
      verdictOf({ pspReference: 'p1:', originalReference: 'TestMerchant', merchantAccountCode: 'order-p1' }),
    ).toEqual({
      kind: 'refused',
      reason: expect.stringContaining('a field that is signed'),
    });
    const moved = { originalReference: ':TestMerchant', merchantAccountCode: 'order-p1', merchantReference: '1130' };
    expect(verdictOf(moved)).toMatchObject({ kind: 'refused' });
  });

  it('a reference of the merchant may have a colon, and a number is an id too', () => {
    const { notificationItems } = JSON.parse(adyen.sample('REFUND', { now: NOW, token: 'p1' }).body.toString());
    Object.assign(notificationItems[0].NotificationRequestItem, { merchantReference: 'shop:1', pspReference: 881 });
    expect(eventOf('adyen', settings, request({ notificationItems })).id).toBe('881.REFUND.true');
  });
});

describe('mailgun', () => {
  it('a signature does not fit the same digits cut at another place: it would be another token, at another time', () => {
    const mailgun = findProvider('mailgun');
    const settings = { signingKey: 'key-1' };
    const token = '4'.repeat(50);
    const signed = mailgun.sign(request({ signature: { token } }), settings, NOW);
    const { timestamp, signature } = JSON.parse(signed.body.toString()).signature;
    const verdictOf = (cut: { timestamp: string; token: string }, now = NOW) => {
      const body = { signature: { ...cut, signature } };
      return mailgun.prepare(settings).verify(request(body), portsWith('', [], now));
    };
    const digits = `${timestamp}${token}`;
    expect(verdictOf({ timestamp, token })).toEqual({ kind: 'verified' });
    for (const at of [timestamp.length - 1, timestamp.length + 1]) {
      const cut = { timestamp: digits.slice(0, at), token: digits.slice(at) };
      expect(verdictOf(cut, Number(cut.timestamp) * 1000)).toMatchObject({ kind: 'refused' });
    }
  });
});
