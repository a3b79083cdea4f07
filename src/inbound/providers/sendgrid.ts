import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto';
import { invalid } from '../../errors.ts';
import { defineProvider } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { decodeBase64 } from './encoded.ts';
import { header, withHeaders } from './header.ts';
import { batchId, batchType, inboundEvent } from './inbound-event.ts';
import { arrayBody, at } from './json-body.ts';
import { all, one } from './settings.ts';
import { formatTimestamp, outsideWindow, parseTimestamp } from './timestamp.ts';
import { refused, VERIFIED } from './verdict.ts';

const SIGNATURE = 'x-twilio-email-event-webhook-signature';
const TIME = 'x-twilio-email-event-webhook-timestamp';
/** DER of two 32-byte numbers, with room for their signs. */
const LONGEST_SIGNATURE = 80;

export const sendgrid = defineProvider({
  name: 'sendgrid',
  title: 'Twilio SendGrid',
  doc: 'X-Twilio-Email-Event-Webhook-Signature: ECDSA P-256 over the timestamp and the body; events come in batches',
  settings: {
    publicKey: { doc: 'the verification key on the page of the signed event webhook', required: true, list: true },
  },
  signSettings: { privateKey: { doc: 'a P-256 private key as PEM, to sign samples', required: true, secret: true } },
  // SendGrid retries for 24 hours and does not say that it signs afresh; a shorter window could lose what it retries.
  toleranceMs: DAY_MS + DAY_MS / 24,
  dedupeForMs: 3 * DAY_MS,
  prepare(settings, toleranceMs) {
    const keys = all(settings, 'publicKey').map(readPublicKey);
    return (request, { now }) => {
      const time = header(request, TIME) ?? '';
      const timeMs = parseTimestamp(time, 's');
      if (timeMs === undefined) return refused(`no readable ${TIME} header`);
      const problem = outsideWindow(timeMs, now, toleranceMs);
      if (problem !== undefined) return refused(problem);
      const signature = decodeBase64(header(request, SIGNATURE) ?? '', LONGEST_SIGNATURE);
      if (signature === undefined) return refused(`no readable ${SIGNATURE} header`);
      const content = Buffer.concat([Buffer.from(time), request.body]);
      return keys.some((key) => verifyBytes('sha256', content, key, signature))
        ? VERIFIED
        : refused('the signature matches none of the public keys');
    };
  },
  sign(request, settings, now) {
    const time = formatTimestamp(now, 's');
    const key = createPrivateKey(one(settings, 'privateKey') ?? '');
    const signature = signBytes('sha256', Buffer.concat([Buffer.from(time), request.body]), key);
    return withHeaders(request, { [TIME]: time, [SIGNATURE]: signature.toString('base64') });
  },
  eventOf(request) {
    const events = arrayBody(request);
    const time = at(events[0], 'timestamp');
    const ids = events.map((event) => at(event, 'sg_event_id'));
    return inboundEvent({
      // Not every kind of event has one: unsubscribes are known to come without.
      id: ids.length === 1 ? ids[0] : batchId(ids),
      type: batchType(events.map((event) => at(event, 'event'))),
      createdAt: typeof time === 'number' ? time * 1000 : undefined,
    });
  },
  samples: {
    delivered: ({ token, now }) => ({ body: [entry('delivered', token, now)] }),
    batch: ({ token, now }) => ({ body: [entry('processed', `${token}1`, now), entry('open', `${token}2`, now)] }),
  },
});

function entry(event: string, token: string, now: number): object {
  return {
    email: 'jane@example.com',
    event,
    sg_event_id: token,
    sg_message_id: `${token}.filter0001`,
    timestamp: Math.floor(now / 1000),
  };
}

function readPublicKey(text: string): KeyObject {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key;
  } catch {
    // Said below, without the text.
  }
  throw invalid(['settings', 'publicKey'], 'must be the base64 that SendGrid shows as the verification key (P-256)');
}
