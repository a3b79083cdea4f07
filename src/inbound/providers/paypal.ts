import { createPrivateKey, sign as signBytes, verify as verifyBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { trustChain } from './certificate-chain.ts';
import { certificateKeys } from './certificate-keys.ts';
import { type CertificatePlace, isAllowedUrl } from './certificate-url.ts';
import { defineProvider, type Sample } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { decodeBase64 } from './encoded.ts';
import { header, withHeaders } from './header.ts';
import { inboundEvent } from './inbound-event.ts';
import { objectBody, textAt } from './json-body.ts';
import type { InboundRequest, SampleOptions } from './provider.ts';
import { all, one } from './settings.ts';
import { formatTimestamp, outsideWindow, parseTimestamp } from './timestamp.ts';
import { refused, VERIFIED } from './verdict.ts';

const ID = 'paypal-transmission-id';
const TIME = 'paypal-transmission-time';
const SIGNATURE = 'paypal-transmission-sig';
const CERTIFICATE = 'paypal-cert-url';
const ALGORITHM = 'paypal-auth-algo';

const PLACE: CertificatePlace = {
  host: /^api(?:-m)?(?:\.sandbox)?\.paypal\.com$/,
  path: /^\/v1\/notifications\/certs\/[A-Za-z0-9._-]+$/,
};
/** Whom PayPal's signing certificate is issued to. Any other certificate of the same authority is not PayPal. */
const SIGNER = /^messageverificationcerts(?:\.sandbox)?\.paypal\.com$/;
const LONGEST_SIGNATURE = 1024;

export const paypal = defineProvider({
  name: 'paypal',
  title: 'PayPal',
  doc: 'PAYPAL-TRANSMISSION-SIG: RSA-SHA256 over id, time, webhook id and CRC-32 of the body, by the certificate that is named. Anyone can write a body with the same CRC-32: a transmission is taken with one body only, and use HTTPS',
  settings: {
    webhookId: { doc: 'the id of the webhook, beside its URL in the developer dashboard', required: true, list: true },
  },
  signSettings: {
    privateKey: { doc: 'an RSA private key as PEM, to sign samples', required: true, secret: true },
    certificateUrl: { doc: 'where its certificate is said to be' },
  },
  // PayPal retries 25 times over 3 days and does not say that it signs afresh; older than that, it is a replay.
  toleranceMs: 4 * DAY_MS,
  dedupeForMs: 8 * DAY_MS,
  prepare(settings, toleranceMs) {
    const webhookIds = all(settings, 'webhookId');
    const keyAt = certificateKeys((pem, ports) => {
      const chain = trustChain(pem, { now: ports.now, trustedRoots: ports.trustedRoots });
      if (typeof chain === 'string' || SIGNER.test(chain.commonName)) return chain;
      return 'the certificate is not the one that PayPal signs webhooks with';
    });
    return async (request, ports) => {
      const [id, time] = [header(request, ID), header(request, TIME)];
      if (id === undefined || !/^[\w-]{1,128}$/.test(id)) return refused(`no readable ${ID} header`);
      const timeMs = parseTimestamp(time ?? '', 'iso');
      if (time === undefined || timeMs === undefined) return refused(`no readable ${TIME} header`);
      const problem = outsideWindow(timeMs, ports.now, toleranceMs);
      if (problem !== undefined) return refused(problem);
      if (header(request, ALGORITHM) !== 'SHA256withRSA') return refused(`${ALGORITHM} is not SHA256withRSA`);
      const signature = decodeBase64(header(request, SIGNATURE) ?? '', LONGEST_SIGNATURE);
      if (signature === undefined) return refused(`no readable ${SIGNATURE} header`);
      const url = header(request, CERTIFICATE) ?? '';
      if (!isAllowedUrl(url, PLACE)) return refused(`${CERTIFICATE} is not a certificate of PayPal's`);
      const found = await keyAt(url, ports);
      if ('verdict' in found) return found.verdict;
      const checksum = crc32(request.body);
      const matches = webhookIds.some((webhookId) =>
        verifyBytes('RSA-SHA256', signedText(id, time, webhookId, checksum), found.chain.publicKey, signature),
      );
      return matches ? VERIFIED : refused('the signature matches none of the webhook ids');
    };
  },
  sign(request, settings, now) {
    const id = header(request, ID) ?? 'sample';
    const time = formatTimestamp(now, 'iso');
    const content = signedText(id, time, one(settings, 'webhookId') ?? '', crc32(request.body));
    const signature = signBytes('RSA-SHA256', content, createPrivateKey(one(settings, 'privateKey') ?? ''));
    return withHeaders(request, {
      [ID]: id,
      [TIME]: time,
      [ALGORITHM]: 'SHA256withRSA',
      [CERTIFICATE]:
        one(settings, 'certificateUrl') ?? 'https://api.sandbox.paypal.com/v1/notifications/certs/CERT-sample',
      [SIGNATURE]: signature.toString('base64'),
    });
  },
  eventOf(request) {
    const body = objectBody(request);
    return inboundEvent({
      id: body.id,
      type: body.event_type,
      createdAt: parseTimestamp(textAt(body, 'create_time') ?? '', 'iso'),
      onceToken: onceToken(request),
    });
  },
  samples: {
    'PAYMENT.CAPTURE.COMPLETED': (options) =>
      event(options, 'capture', 'PAYMENT.CAPTURE.COMPLETED', {
        id: options.token,
        amount: { currency_code: 'USD', value: '30.00' },
        final_capture: true,
        status: 'COMPLETED',
      }),
    'PAYMENT.CAPTURE.REFUNDED': (options) =>
      event(options, 'refund', 'PAYMENT.CAPTURE.REFUNDED', {
        id: options.token,
        amount: { currency_code: 'USD', value: '30.00' },
        status: 'COMPLETED',
        // Nothing else says what was paid back: its id is the refund's.
        links: [
          { href: `https://api.paypal.com/v2/payments/refunds/${options.token}`, rel: 'self', method: 'GET' },
          { href: `https://api.paypal.com/v2/payments/captures/C-${options.token}`, rel: 'up', method: 'GET' },
        ],
      }),
    'BILLING.SUBSCRIPTION.CANCELLED': (options) =>
      event(options, 'subscription', 'BILLING.SUBSCRIPTION.CANCELLED', {
        id: `I-${options.token}`,
        plan_id: 'P-5ML4271244454362WXNWU5NQ',
        status: 'CANCELLED',
      }),
  },
});

function signedText(id: string, time: string, webhookId: string, checksum: number): Buffer {
  return Buffer.from(`${id}|${time}|${webhookId}|${checksum}`);
}

/**
 * A captured request verifies every body that was given its checksum, so that these two are taken with one body only. PayPal
 * does not say whether a retry has a new id, time or bytes: its own other bytes have another checksum, and are not refused.
 */
function onceToken(request: InboundRequest): string | undefined {
  const id = header(request, ID);
  return id === undefined ? undefined : `${id}|${crc32(request.body)}`;
}

function event({ token, now }: SampleOptions, kind: string, type: string, resource: object): Sample {
  const time = new Date(now).toISOString();
  return {
    headers: { [ID]: `transmission-${token}` },
    body: {
      id: `WH-${token}`,
      event_version: '1.0',
      create_time: time,
      resource_type: kind,
      resource_version: '2.0',
      event_type: type,
      summary: `A sample of ${type}`,
      resource: { ...resource, create_time: time, update_time: time },
      links: [],
    },
  };
}
