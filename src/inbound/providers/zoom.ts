import { defineProvider } from './define-provider.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import { hmacKeys, signHmac } from './hmac.ts';
import { hmacScheme } from './hmac-scheme.ts';
import { inboundEvent } from './inbound-event.ts';
import { at, objectBody, parseObject, textAt, viewOf } from './json-body.ts';
import { all } from './settings.ts';
import { jsonAnswer, refused } from './verdict.ts';

const signature = hmacScheme({
  secret: 'secretToken',
  algorithm: 'sha256',
  encoding: 'hex',
  header: 'x-zm-signature',
  prefix: 'v0=',
  timestamp: { header: 'x-zm-request-timestamp', unit: 's' },
  content: (request, timestamp) => [`v0:${timestamp}:`, request.body],
});

export const zoom = defineProvider({
  name: 'zoom',
  title: 'Zoom',
  doc: 'x-zm-signature: HMAC-SHA256 over the timestamp and the body; endpoint.url_validation is answered',
  settings: {
    secretToken: { doc: "the app's secret token, on its Access page", required: true, secret: true, list: true },
  },
  toleranceMs: 5 * MINUTE_MS,
  // Three retries within about two hours (developers.zoom.us, Using webhooks).
  dedupeForMs: DAY_MS,
  prepare(settings, toleranceMs) {
    const verify = signature.prepare(settings, toleranceMs);
    const secrets = all(settings, 'secretToken').map((secret) => ({
      verify: signature.prepare({ secretToken: [secret] }, toleranceMs),
      keys: hmacKeys([secret]),
    }));
    return (request, ports) => {
      const verdict = verify(request, ports);
      if (verdict.kind !== 'verified' || !isChallenge(request.body)) return verdict;
      const body = parseObject(request.body);
      if (textAt(body, 'event') !== 'endpoint.url_validation') return verdict;
      const plainToken = textAt(body, 'payload', 'plainToken');
      // The answer is an HMAC under the very key that signs events. Given to strangers, or for a token that reads like
      // signed content, it would sign their events for them.
      if (plainToken === undefined || plainToken.includes(':')) return refused('url_validation without a plain token');
      // While two secrets are live, Zoom expects the one that it signed with.
      const used = secrets.find((secret) => secret.verify(request, ports).kind === 'verified');
      const encryptedToken = signHmac('sha256', used?.keys ?? [], [plainToken]).toString('hex');
      return jsonAnswer({ plainToken, encryptedToken });
    };
  },
  sign: signature.sign,
  eventOf(request) {
    const body = objectBody(request);
    const time = at(body, 'event_ts');
    // Zoom sends no event id: the body, which holds event_ts, tells repeats.
    return inboundEvent({ type: body.event, createdAt: typeof time === 'number' ? time : undefined });
  },
  samples: {
    'meeting.started': ({ token, now }) => ({ body: meeting('meeting.started', token, now) }),
    'meeting.ended': ({ token, now }) => ({ body: meeting('meeting.ended', token, now) }),
  },
});

function isChallenge(body: Uint8Array): boolean {
  return body.length < 2048 && viewOf(body).includes('endpoint.url_validation');
}

function meeting(event: string, token: string, now: number): object {
  return {
    event,
    event_ts: now,
    payload: {
      account_id: 'AAAAAABBBB',
      object: {
        id: '1234567890',
        uuid: `${token}==`,
        topic: 'Weekly',
        type: 2,
        start_time: new Date(now).toISOString(),
        timezone: 'Europe/Berlin',
      },
    },
  };
}
