import { defineProvider } from './define-provider.ts';
import { DAY_MS, HOUR_MS } from './durations.ts';
import { decode } from './encoded.ts';
import { hmacKeys, isHmac, signHmac } from './hmac.ts';
import { inboundEvent } from './inbound-event.ts';
import { at, objectBody, parseUnverified, textAt } from './json-body.ts';
import { all } from './settings.ts';
import { formatTimestamp, outsideWindow, parseTimestamp } from './timestamp.ts';
import { refused, VERIFIED } from './verdict.ts';

export const mailgun = defineProvider({
  name: 'mailgun',
  title: 'Mailgun',
  doc: 'signature in the body: HMAC-SHA256 over its timestamp and token. Mailgun does not sign the event itself: a token is taken with one body only, and use HTTPS',
  settings: {
    signingKey: {
      doc: 'the HTTP webhook signing key, under Sending > Webhooks',
      required: true,
      secret: true,
      list: true,
    },
  },
  // Mailgun retries for 8 hours and does not say that it signs afresh.
  toleranceMs: 12 * HOUR_MS,
  dedupeForMs: 2 * DAY_MS,
  prepare(settings, toleranceMs) {
    const keys = hmacKeys(all(settings, 'signingKey'));
    return (request, { now }) => {
      const part = at(parseUnverified(request.body), 'signature');
      const [time, token] = [textAt(part, 'timestamp'), textAt(part, 'token')];
      // Mailgun's tokens are 50 characters. A free mix of digits could be cut into another timestamp and token.
      if (time === undefined || token?.length !== 50)
        return refused('the body is not JSON of at most 512 KiB with a signature, timestamp and token');
      const timeMs = parseTimestamp(time, 's');
      if (timeMs === undefined) return refused('the timestamp is not a number of seconds');
      const problem = outsideWindow(timeMs, now, toleranceMs);
      if (problem !== undefined) return refused(problem);
      const signature = decode(textAt(part, 'signature') ?? '', 'hex', 32);
      if (signature === undefined) return refused('the signature is not hex of 32 bytes');
      return isHmac('sha256', keys, [time, token], [signature])
        ? VERIFIED
        : refused('the signature matches none of the keys');
    };
  },
  sign(request, settings, now) {
    const body = objectBody(request);
    const [timestamp, token] = [formatTimestamp(now, 's'), textAt(body, 'signature', 'token') ?? 'a'.repeat(50)];
    const signature = signHmac('sha256', hmacKeys(all(settings, 'signingKey')), [timestamp, token]).toString('hex');
    return { ...request, body: Buffer.from(JSON.stringify({ ...body, signature: { timestamp, token, signature } })) };
  },
  eventOf(request) {
    const body = objectBody(request);
    const data = at(body, 'event-data');
    const time = at(data, 'timestamp');
    return inboundEvent({
      id: at(data, 'id'),
      type: at(data, 'event'),
      createdAt: typeof time === 'number' ? Math.round(time * 1000) : undefined,
      onceToken: textAt(body, 'signature', 'token'),
    });
  },
  samples: {
    delivered: ({ token, now }) => ({ body: entry('delivered', token, now) }),
    failed: ({ token, now }) => ({ body: { ...entry('failed', token, now) } }),
  },
});

function entry(event: string, token: string, now: number): object {
  return {
    signature: { token: token.padEnd(50, '0').slice(0, 50) },
    'event-data': {
      id: token,
      event,
      timestamp: now / 1000,
      recipient: 'alice@example.com',
      message: { headers: { 'message-id': `${token}@example.com`, to: 'alice@example.com', subject: 'Hello' } },
    },
  };
}
