/** Signatures that somebody else computed: published by the vendor, or made once with a library too heavy to install. */
import { describe, expect, it } from 'vitest';
import type { InboundRequest, ProviderSettings } from './provider.ts';
import { findProvider } from './registry.ts';
import { portsWith } from './testing/provider-cases.ts';

interface Vector {
  readonly from: string;
  readonly name: string;
  readonly settings: ProviderSettings;
  readonly url?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly now?: number;
  readonly event?: { readonly id?: string; readonly type: string };
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const TWILIO_URL = 'https://mycompany.com/myapp.php?foo=1&bar=2';
const TWILIO_FORM = 'CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212';
const TWILIO_HASH = '0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620';
const SLACK_BODY =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
  '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
  '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
  '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';

const VECTORS: readonly Vector[] = [
  {
    from: "GitHub's page on validating webhook deliveries",
    name: 'github',
    settings: { secret: "It's a Secret to Everybody" },
    headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
    body: 'Hello, World!',
  },
  {
    from: "Slack's page on verifying requests",
    name: 'slack',
    settings: { signingSecret: '8f742231b10e8888abcd99yyyzzz85a5' },
    headers: {
      ...FORM,
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    body: SLACK_BODY,
    now: 1531420618_000,
    event: { id: '398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c', type: 'slash_command' },
  },
  {
    from: "Twilio's page on webhook security, and its libraries' tests",
    name: 'twilio',
    settings: { authToken: '12345' },
    url: TWILIO_URL,
    headers: { ...FORM, 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
    body: TWILIO_FORM,
  },
  {
    from: "Twilio's libraries' tests: a port that Twilio did not sign",
    name: 'twilio',
    settings: { authToken: '12345' },
    url: TWILIO_URL.replace('.com', '.com:1234'),
    headers: { ...FORM, 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
    body: TWILIO_FORM,
  },
  {
    from: "Twilio's libraries' tests: repeated fields",
    name: 'twilio',
    settings: { authToken: '12345' },
    url: TWILIO_URL,
    headers: { ...FORM, 'x-twilio-signature': 'IK+Dwps556ElfBT0I3Rgjkr1wJU=' },
    body: 'Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234',
  },
  {
    from: "Twilio's libraries' tests: a JSON body",
    name: 'twilio',
    settings: { authToken: '12345' },
    url: `${TWILIO_URL}&bodySHA256=${TWILIO_HASH}`,
    headers: { 'content-type': 'application/json', 'x-twilio-signature': 'a9nBmqA0ju/hNViExpshrM61xv4=' },
    body: '{"property": "value", "boolean": true}',
  },
  {
    from: "Twilio's libraries' tests: a JSON body, behind a proxy that has another URL",
    name: 'twilio',
    settings: { authToken: '12345', url: TWILIO_URL },
    url: `http://10.0.0.7:8420/in/twilio?bodySHA256=${TWILIO_HASH}`,
    headers: { 'content-type': 'application/json', 'x-twilio-signature': 'a9nBmqA0ju/hNViExpshrM61xv4=' },
    body: '{"property": "value", "boolean": true}',
  },
  {
    from: "SendGrid's libraries' tests",
    name: 'sendgrid',
    settings: {
      publicKey:
        'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
    },
    headers: {
      'x-twilio-email-event-webhook-signature':
        'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
      'x-twilio-email-event-webhook-timestamp': '1600112502',
    },
    body: '[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address","sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA","sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0","smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]\r\n',
    now: 1600112502_000,
    event: { id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA', type: 'dropped' },
  },
  {
    from: "Square's page on validating event notifications",
    name: 'square',
    settings: { signatureKey: 'asdf1234' },
    url: 'https://example.com/webhook',
    headers: { 'x-square-hmacsha256-signature': '2kRE5qRU2tR+tBGlDwMEw2avJ7QM4ikPYD/PJ3bd9Og=' },
    body: '{"hello":"world"}',
  },
  {
    from: "Square's page on validating event notifications, behind a proxy that has another URL",
    name: 'square',
    settings: { signatureKey: 'asdf1234', notificationUrl: 'https://example.com/webhook' },
    url: 'http://10.0.0.7:8420/in/square',
    headers: { 'x-square-hmacsha256-signature': '2kRE5qRU2tR+tBGlDwMEw2avJ7QM4ikPYD/PJ3bd9Og=' },
    body: '{"hello":"world"}',
  },
  {
    from: "Adyen's libraries' tests",
    name: 'adyen',
    settings: { hmacKey: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056' },
    headers: {},
    body: JSON.stringify({
      live: 'false',
      notificationItems: [
        {
          NotificationRequestItem: {
            additionalData: { hmacSignature: 'coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=' },
            amount: { value: 1130, currency: 'EUR' },
            pspReference: '7914073381342284',
            eventCode: 'AUTHORISATION',
            eventDate: '2019-05-06T17:15:34.121+02:00',
            merchantAccountCode: 'TestMerchant',
            merchantReference: 'TestPayment-1407325143704',
            paymentMethod: 'visa',
            success: 'true',
          },
        },
      ],
    }),
    event: { id: '7914073381342284.AUTHORISATION.true', type: 'AUTHORISATION' },
  },
  {
    from: 'Signature.getSignature of @hubspot/api-client 14.0.1',
    name: 'hubspot',
    settings: { clientSecret: 'yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy' },
    url: 'https://www.example.com/webhook_uri',
    headers: {
      'x-hubspot-request-timestamp': '1700000000000',
      'x-hubspot-signature-v3': 'rQEKkaNUiu+1qGF//O/pw4BCzstSqO1PyUnGICmf+7o=',
    },
    body: '{"example_field":"example_value"}',
    now: 1700000000000,
  },
  {
    from: "Mailgun's PHP library's tests",
    name: 'mailgun',
    settings: { signingKey: 'key-3ax6xnjp29jd6fds4gc373sgvjxteol0' },
    headers: {},
    body: JSON.stringify({
      signature: {
        timestamp: '1403645220',
        token: '5egbgr1vjgqxtrnp65xfznchgdccwh5d6i09vijqi3whgowmn6',
        signature: '9cfc5c41582e51246e73c88d34db3af0a3a2692a76fbab81492842f000256d33',
      },
    }),
    now: 1403645220_000,
  },
  {
    from: "Meta's WhatsApp SDK for Node.js: its tests",
    name: 'meta',
    settings: { appSecret: 'TEST_APP_SECRET' },
    headers: { 'x-hub-signature-256': 'sha256=0c61947b610d4f45e65f3d680e26027121ec2413e77598bcb6cfc6e0d9888221' },
    body: 'test',
  },
  {
    // Its webhooks.validate takes this request too; with all that it depends on it is 46 MB.
    from: 'createSHA256HMAC of @shopify/shopify-api 12.3.0',
    name: 'shopify',
    settings: { clientSecret: 'hush' },
    headers: {
      'x-shopify-hmac-sha256': 'i3faPogR5HiLtsrUW4YkltFmvC6lcTfdcQquUN2PLlU=',
      'x-shopify-topic': 'orders/create',
      'x-shopify-event-id': '98880550-7158-44d4-b7cd-2c97c8a091b5',
    },
    body: '{"id":820982911946154508,"email":"jon@example.com","note":"Zoë 漢字","total_price":"398.00"}',
    event: { id: '98880550-7158-44d4-b7cd-2c97c8a091b5.orders/create', type: 'orders.create' },
  },
];

describe.each(VECTORS)(
  '$name: $from',
  ({ name, settings, url = 'https://example.com/in', headers, body, now = 0, event }) => {
    const prepared = findProvider(name).prepare(settings);
    const request: InboundRequest = { method: 'POST', url, headers, body: Buffer.from(body) };

    it('is verified', async () => {
      expect(await prepared.verify(request, portsWith('', [], now))).toEqual({ kind: 'verified' });
      if (event !== undefined) expect(prepared.eventOf(request)).toMatchObject(event);
    });

    it('is refused with a digit of it changed', async () => {
      const changed = { ...request, body: Buffer.from(body.replace(/[0-9]|world|World|value|test/, 'x')) };
      expect(await prepared.verify(changed, portsWith('', [], now))).toMatchObject({ kind: 'refused' });
    });
  },
);
