import { defineProvider } from './define-provider.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import { header } from './header.ts';
import { hmacScheme } from './hmac-scheme.ts';
import { inboundEvent } from './inbound-event.ts';
import { at, objectBody, parseObject, textAt } from './json-body.ts';
import { parseTimestamp } from './timestamp.ts';
import { refused, textAnswer } from './verdict.ts';

const ID = 'twitch-eventsub-message-id';
const TIME = 'twitch-eventsub-message-timestamp';
const KIND = 'twitch-eventsub-message-type';

const signature = hmacScheme({
  secret: 'secret',
  algorithm: 'sha256',
  encoding: 'hex',
  header: 'twitch-eventsub-message-signature',
  prefix: 'sha256=',
  timestamp: { header: TIME, unit: 'iso' },
  content: (request, timestamp) => [header(request, ID) ?? '', timestamp, request.body],
});

export const twitch = defineProvider({
  name: 'twitch',
  title: 'Twitch EventSub',
  doc: 'Twitch-Eventsub-Message-Signature: HMAC-SHA256 over id, timestamp and body; the callback challenge is answered',
  settings: {
    secret: { doc: 'the secret that the subscription was made with', required: true, secret: true, list: true },
  },
  // What dev.twitch.tv says to refuse: messages older than 10 minutes.
  toleranceMs: 10 * MINUTE_MS,
  // Retries "a few times", undocumented; the 10 minutes above bound them.
  dedupeForMs: DAY_MS,
  prepare(settings, toleranceMs) {
    const verify = signature.prepare(settings, toleranceMs);
    return (request, ports) => {
      if (header(request, ID) === undefined) return refused(`no ${ID} header`);
      const verdict = verify(request, ports);
      if (verdict.kind !== 'verified' || header(request, KIND) !== 'webhook_callback_verification') return verdict;
      const challenge = textAt(parseObject(request.body), 'challenge');
      return challenge === undefined ? refused('callback verification without a challenge') : textAnswer(challenge);
    };
  },
  sign: signature.sign,
  eventOf(request) {
    const body = objectBody(request);
    const kind = header(request, KIND);
    return inboundEvent({
      id: header(request, ID),
      type: kind === 'revocation' ? 'revocation' : at(body, 'subscription', 'type'),
      createdAt: parseTimestamp(header(request, TIME) ?? '', 'iso'),
    });
  },
  samples: {
    'stream.online': ({ token, now }) => ({
      headers: { [ID]: `message-${token}`, [KIND]: 'notification' },
      body: {
        subscription: { id: `subscription-${token}`, type: 'stream.online', version: '1', status: 'enabled', cost: 0 },
        event: { id: '9001', broadcaster_user_id: '1337', type: 'live', started_at: new Date(now).toISOString() },
      },
    }),
    'channel.follow': ({ token, now }) => ({
      headers: { [ID]: `message-${token}`, [KIND]: 'notification' },
      body: {
        subscription: { id: `subscription-${token}`, type: 'channel.follow', version: '2', status: 'enabled', cost: 0 },
        event: { user_id: '1234', broadcaster_user_id: '1337', followed_at: new Date(now).toISOString() },
      },
    }),
  },
});
