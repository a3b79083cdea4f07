/**
 * A webhook that PayPal itself signed, in May 2015: id, time, signature and body as the tests of PayPal's SDKs for Ruby and
 * Node.js publish them, the certificate as the recorded answers of the Node.js SDK's tests hold it. The authority is the
 * DigiCert intermediate that those SDKs ship as their trust.
 */
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { paypal } from './paypal.ts';
import type { InboundRequest } from './provider.ts';
import { portsWith } from './testing/provider-cases.ts';

// As it was signed: a formatter that knew it for JSON would change it.
const read = (name: string) => readFileSync(new URL(`testing/paypal-2015/${name}`, import.meta.url));
const [signer, authority, body] = [read('signer.pem').toString(), read('authority.pem').toString(), read('event.body')];
const SIGNED_AT = Date.parse('2015-05-18T15:45:13Z');
const DAY_MS = 86_400_000;

const request: InboundRequest = {
  method: 'POST',
  url: 'https://example.com/in',
  headers: {
    'paypal-transmission-id': 'dfb3be50-fd74-11e4-8bf3-77339302725b',
    'paypal-transmission-time': '2015-05-18T15:45:13Z',
    'paypal-auth-algo': 'SHA256withRSA',
    'paypal-cert-url': 'https://api.sandbox.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-a5cafa77',
    'paypal-transmission-sig':
      'thy4/U002quzxFavHPwbfJGcc46E8rc5jzgyeafWm5mICTBdY/8rl7WJpn8JA0GKA+oDTPsSruqusw+XXg5RLAP7ip53Euh9Xu3UbUhQFX7U' +
      'gwzE2FeYoY6lyRMiiiQLzy9BvHfIzNIVhPad4KnC339dr6y2l+mN8ALgI4GCdIh3/SoJO5wE64Bh/ueWtt8EVuvsvXfda2Le5a2TrOI9vLEz' +
      'sm9GS79hAR/5oLexNz8UiZr045Mr5ObroH4w4oNfmkTaDk9Rj0G19uvISs5QzgmBpauKr7Nw++JI0pr/v5mFctQkoWJSGfBGzPRXawrvIIVH' +
      'Q9Wer48GR2g9ZiApWg==',
  },
  body,
};
const verify = (sent: InboundRequest, { webhookId = '4JH86294D6297924G', roots = [authority], now = SIGNED_AT } = {}) =>
  paypal.prepare({ webhookId }).verify(sent, portsWith(signer, roots, now));

describe('PAY-10 a webhook that PayPal signed', () => {
  it('PAY-10 is verified by the certificate of PayPal that it names, and read', async () => {
    expect(crc32(body)).toBe(2771810304);
    expect(await verify(request)).toEqual({ kind: 'verified' });
    expect(paypal.prepare({ webhookId: 'x' }).eventOf(request)).toMatchObject({
      id: 'WH-0G2756385H040842W-5Y612302CV158622M',
      type: 'PAYMENT.SALE.COMPLETED',
    });
  });

  it('PAY-10 is refused with a byte changed, for another webhook, from another authority, and when it is old', async () => {
    const changed = { ...request, body: Buffer.from(body.toString().replace('20.00', '20.01')) };
    expect(await verify(changed)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('signature') });
    expect(await verify(request, { webhookId: '4JH86294D6297924H' })).toMatchObject({
      reason: expect.stringContaining('signature'),
    });
    expect(await verify(request, { roots: [] })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('trusted root'),
    });
    expect(await verify(request, { now: SIGNED_AT + 5 * DAY_MS })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('old'),
    });
  });
});
