import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto';
import { invalid } from '../../errors.ts';
import { defineProvider } from './define-provider.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import { decode } from './encoded.ts';
import { header, withHeaders } from './header.ts';
import { inboundEvent } from './inbound-event.ts';
import { at, objectBody, parseObject, textAt } from './json-body.ts';
import { all, one } from './settings.ts';
import { formatTimestamp, outsideWindow, parseTimestamp } from './timestamp.ts';
import { answer, jsonAnswer, refused, VERIFIED } from './verdict.ts';

const SIGNATURE = 'x-signature-ed25519';
const TIME = 'x-signature-timestamp';

export const discord = defineProvider({
  name: 'discord',
  title: 'Discord',
  doc: 'X-Signature-Ed25519 over the timestamp and the body; pings are answered. Interactions need their own answer within 3 s',
  settings: {
    publicKey: {
      doc: "the application's public key, 64 hex digits, under General Information",
      required: true,
      list: true,
    },
  },
  signSettings: { privateKey: { doc: 'an ed25519 private key as PEM, to sign samples', required: true, secret: true } },
  toleranceMs: 5 * MINUTE_MS,
  // Webhook events are retried for up to 10 minutes (docs.discord.com, Webhook Events).
  dedupeForMs: DAY_MS,
  accepted: { status: 204, headers: {}, body: '' },
  prepare(settings, toleranceMs) {
    const keys = all(settings, 'publicKey').map(readPublicKey);
    return (request, { now }) => {
      const time = header(request, TIME) ?? '';
      const timeMs = parseTimestamp(time, 's');
      if (timeMs === undefined) return refused(`no readable ${TIME} header`);
      const problem = outsideWindow(timeMs, now, toleranceMs);
      if (problem !== undefined) return refused(problem);
      const signature = decode(header(request, SIGNATURE) ?? '', 'hex', 64);
      if (signature === undefined) return refused(`no readable ${SIGNATURE} header`);
      const content = Buffer.concat([Buffer.from(time), request.body]);
      if (!keys.some((key) => verifyBytes(null, content, key, signature))) {
        return refused('the signature matches none of the public keys');
      }
      const body = parseObject(request.body);
      const type = at(body, 'type');
      // A webhook's ping is type 0 and an interaction's type 1, which for webhooks means an event.
      if (type === 0) return answer({ status: 204, headers: {}, body: '' });
      return type === 1 && at(body, 'event') === undefined ? jsonAnswer({ type: 1 }) : VERIFIED;
    };
  },
  sign(request, settings, now) {
    const time = formatTimestamp(now, 's');
    const key = createPrivateKey(one(settings, 'privateKey') ?? '');
    const signature = signBytes(null, Buffer.concat([Buffer.from(time), request.body]), key);
    return withHeaders(request, { [TIME]: time, [SIGNATURE]: signature.toString('hex') });
  },
  eventOf(request) {
    const body = objectBody(request);
    const event = at(body, 'event');
    if (event === undefined) return inboundEvent({ id: body.id, type: `interaction.${String(at(body, 'type'))}` });
    // Webhook events have no id: the body, which holds their time, tells repeats.
    return inboundEvent({ type: at(event, 'type'), createdAt: Date.parse(textAt(event, 'timestamp') ?? '') });
  },
  samples: {
    APPLICATION_AUTHORIZED: ({ token, now }) => ({
      body: {
        version: 1,
        application_id: '1234560123453231555',
        type: 1,
        event: {
          type: 'APPLICATION_AUTHORIZED',
          timestamp: new Date(now).toISOString(),
          data: { integration_type: 1, scopes: ['applications.commands'], user: { id: '1', username: token } },
        },
      },
    }),
  },
});

function readPublicKey(text: string): KeyObject {
  const raw = decode(text, 'hex', 32);
  if (raw === undefined) throw invalid(['settings', 'publicKey'], 'must be 64 hex digits');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }, format: 'jwk' });
}
