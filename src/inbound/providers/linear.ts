import { defineProvider } from './define-provider.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import { header } from './header.ts';
import { hmacScheme } from './hmac-scheme.ts';
import { inboundEvent } from './inbound-event.ts';
import { at, objectBody, parseObject } from './json-body.ts';
import { outsideWindow } from './timestamp.ts';
import { refused } from './verdict.ts';

const signature = hmacScheme({
  secret: 'signingSecret',
  algorithm: 'sha256',
  encoding: 'hex',
  header: 'linear-signature',
});

export const linear = defineProvider({
  name: 'linear',
  title: 'Linear',
  doc: 'Linear-Signature: HMAC-SHA256 over the body, which holds the time of sending; the id comes in a header that is not signed',
  settings: {
    signingSecret: { doc: 'the signing secret on the page of the webhook', required: true, secret: true, list: true },
  },
  // The window that linear.app/developers/webhooks and its SDK use.
  toleranceMs: MINUTE_MS,
  // Retries after 1 minute, 1 hour and 6 hours.
  dedupeForMs: DAY_MS,
  prepare(settings, toleranceMs) {
    const verify = signature.prepare(settings, toleranceMs);
    return (request, ports) => {
      const verdict = verify(request, ports);
      if (verdict.kind !== 'verified') return verdict;
      const sentAt = at(parseObject(request.body), 'webhookTimestamp');
      if (typeof sentAt !== 'number') return refused('the body has no webhookTimestamp');
      const problem = outsideWindow(sentAt, ports.now, toleranceMs);
      return problem === undefined ? verdict : refused(problem);
    };
  },
  sign(request, settings, now) {
    const body = Buffer.from(JSON.stringify({ ...objectBody(request), webhookTimestamp: now }));
    return signature.sign({ ...request, body }, settings, now);
  },
  eventOf(request) {
    const body = objectBody(request);
    const created = at(body, 'createdAt');
    const [type, action] = [body.type, body.action];
    return inboundEvent({
      id: header(request, 'linear-delivery'),
      type: typeof type === 'string' && typeof action === 'string' ? `${type}.${action}` : type,
      createdAt: typeof created === 'string' ? Date.parse(created) : undefined,
    });
  },
  samples: {
    'Issue.create': ({ token, now }) => ({
      headers: { 'linear-delivery': `delivery-${token}`, 'linear-event': 'Issue' },
      body: {
        action: 'create',
        type: 'Issue',
        createdAt: new Date(now).toISOString(),
        data: { id: `issue-${token}`, identifier: 'ENG-1', title: 'Fix the door', priority: 2 },
        organizationId: 'org-1',
        webhookTimestamp: now,
      },
    }),
    'Comment.create': ({ token, now }) => ({
      headers: { 'linear-delivery': `delivery-${token}`, 'linear-event': 'Comment' },
      body: {
        action: 'create',
        type: 'Comment',
        createdAt: new Date(now).toISOString(),
        data: { id: `comment-${token}`, body: 'Done', issueId: 'issue-1' },
        organizationId: 'org-1',
        webhookTimestamp: now,
      },
    }),
  },
});
