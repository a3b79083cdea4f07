import { defineProvider } from './define-provider.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import { header } from './header.ts';
import { hmacScheme } from './hmac-scheme.ts';
import { type InboundEvent, inboundEvent } from './inbound-event.ts';
import { at, objectBody, parseObject, textAt, viewOf } from './json-body.ts';
import type { InboundRequest } from './provider.ts';
import { answer, refused, textAnswer } from './verdict.ts';

const signature = hmacScheme({
  secret: 'signingSecret',
  algorithm: 'sha256',
  encoding: 'hex',
  header: 'x-slack-signature',
  prefix: 'v0=',
  timestamp: { header: 'x-slack-request-timestamp', unit: 's' },
  content: (request, timestamp) => [`v0:${timestamp}:`, request.body],
});

export const slack = defineProvider({
  name: 'slack',
  title: 'Slack',
  doc: 'X-Slack-Signature: HMAC-SHA256 over the timestamp and the body; url_verification and ssl_check are answered',
  settings: {
    signingSecret: {
      doc: "the app's signing secret, under Basic Information",
      required: true,
      secret: true,
      list: true,
    },
  },
  toleranceMs: 5 * MINUTE_MS,
  // 3 retries within minutes; with delayed events on, then hourly for 24 hours (docs.slack.dev, Events API).
  dedupeForMs: 2 * DAY_MS,
  // Whoever typed a slash command is shown what is in the body.
  accepted: { status: 200, headers: {}, body: '' },
  prepare(settings, toleranceMs) {
    const verify = signature.prepare(settings, toleranceMs);
    return (request, ports) => {
      // Slack looks now and then whether a command's URL has a good certificate, and need not sign that.
      if (isForm(request) && isSslCheck(request.body)) return answer({ status: 200, headers: {}, body: '' });
      const verdict = verify(request, ports);
      if (verdict.kind !== 'verified' || !isChallenge(request.body)) return verdict;
      const body = parseObject(request.body);
      if (textAt(body, 'type') !== 'url_verification') return verdict;
      const challenge = textAt(body, 'challenge');
      return challenge === undefined ? refused('url_verification without a challenge') : textAnswer(challenge);
    };
  },
  sign: signature.sign,
  eventOf(request) {
    if (isForm(request)) return formEvent(request.body);
    const body = objectBody(request);
    const time = at(body, 'event_time');
    return inboundEvent({
      id: body.event_id,
      type: at(body, 'event', 'type') ?? body.type,
      createdAt: typeof time === 'number' ? time * 1000 : undefined,
    });
  },
  samples: {
    app_mention: (options) => ({
      body: callback(options, {
        type: 'app_mention',
        user: 'U061F7AUR',
        text: '<@U0LAN0Z89> hello',
        channel: 'C0LAN2Q65',
      }),
    }),
    reaction_added: (options) => ({
      body: callback(options, { type: 'reaction_added', user: 'U061F7AUR', reaction: 'horn', item_user: 'U0G9QF9C6' }),
    }),
  },
});

function isForm(request: InboundRequest): boolean {
  return header(request, 'content-type')?.startsWith('application/x-www-form-urlencoded') ?? false;
}

function isSslCheck(body: Uint8Array): boolean {
  return body.length < 2048 && new URLSearchParams(viewOf(body).toString()).get('ssl_check') === '1';
}

/** Only what may be Slack's handshake is parsed before it is verified: it is small and says what it is. */
function isChallenge(body: Uint8Array): boolean {
  return body.length < 2048 && viewOf(body).includes('url_verification');
}

/** Slash commands and interactions come as forms, the latter with JSON in one field. Each click has a trigger id. */
function formEvent(body: Uint8Array): InboundEvent {
  const form = new URLSearchParams(viewOf(body).toString());
  const payload = parseObject(Buffer.from(form.get('payload') ?? ''));
  return inboundEvent({
    id: form.get('trigger_id') ?? at(payload, 'trigger_id'),
    type: form.has('command') ? 'slash_command' : at(payload, 'type'),
  });
}

function callback({ token, now }: { token: string; now: number }, event: object): object {
  const seconds = Math.floor(now / 1000);
  return {
    team_id: 'T061EG9R6',
    api_app_id: 'A0PNCHHK2',
    event: { ...event, event_ts: `${seconds}.000100` },
    type: 'event_callback',
    event_id: `Ev${token}`,
    event_time: seconds,
  };
}
