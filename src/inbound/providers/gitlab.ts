import { invalid } from '../../errors.ts';
import { createSigner, createVerifier, readSignedHeaders } from '../../signing/index.ts';
import { defineProvider } from './define-provider.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import { header, withHeaders } from './header.ts';
import { inboundEvent } from './inbound-event.ts';
import { objectBody } from './json-body.ts';
import { isOneOf, textDigest } from './same-text.ts';
import { all, one } from './settings.ts';
import { refused, VERIFIED } from './verdict.ts';

const TOKEN = 'x-gitlab-token';

export const gitlab = defineProvider({
  name: 'gitlab',
  title: 'GitLab',
  doc: 'webhook-signature (signing token, Standard Webhooks) or, on older versions, the secret in X-Gitlab-Token',
  settings: {
    signingToken: {
      doc: 'whsec_… signing token of the webhook; with it, only signed requests pass',
      secret: true,
      list: true,
    },
    secretToken: {
      doc: 'the secret token of the webhook, sent as it is: use it only where signing is missing',
      secret: true,
      list: true,
    },
  },
  toleranceMs: 5 * MINUTE_MS,
  // GitLab does not retry; a person can resend what the log of the last days holds.
  dedupeForMs: 4 * DAY_MS,
  prepare(settings, toleranceMs) {
    const signing = all(settings, 'signingToken');
    if (signing.length > 0) {
      const verifier = createVerifier(signing);
      return (request, { now }) => {
        const options = { nowS: Math.floor(now / 1000), toleranceS: toleranceMs / 1000 };
        const result = verifier.verify(request.headers, request.body, options);
        return result.ok ? VERIFIED : refused(result.reason.replaceAll('_', ' '));
      };
    }
    const tokens = all(settings, 'secretToken').map(textDigest);
    if (tokens.length === 0) throw invalid(['settings', 'signingToken'], 'or secretToken is required');
    return (request) => {
      const token = header(request, TOKEN);
      if (token === undefined) return refused(`no ${TOKEN} header`);
      return isOneOf(token, tokens) ? VERIFIED : refused(`${TOKEN} is none of the secret tokens`);
    };
  },
  sign(request, settings, now) {
    const signing = all(settings, 'signingToken');
    if (signing.length === 0) return withHeaders(request, { [TOKEN]: one(settings, 'secretToken') ?? '' });
    const id = header(request, 'idempotency-key') ?? 'sample';
    const timestampS = Math.floor(now / 1000);
    return withHeaders(request, {
      'webhook-id': id,
      'webhook-timestamp': String(timestampS),
      'webhook-signature': createSigner(signing).sign(id, timestampS, request.body),
    });
  },
  eventOf(request, settings) {
    const body = objectBody(request);
    const isSigned = all(settings, 'signingToken').length > 0;
    return inboundEvent({
      // Where requests are signed, the id is the one that was verified: any other could be changed to pass as new.
      // X-Gitlab-Event-UUID is none: events that a webhook's own call caused have that webhook's.
      id: isSigned ? readSignedHeaders(request.headers)?.messageId : header(request, 'idempotency-key'),
      type: body.object_kind ?? body.event_name,
    });
  },
  samples: {
    push: ({ token }) => ({
      headers: { 'x-gitlab-event': 'Push Hook', 'idempotency-key': `key-${token}` },
      body: {
        object_kind: 'push',
        event_name: 'push',
        ref: 'refs/heads/main',
        checkout_sha: 'a'.repeat(40),
        user_username: 'jsmith',
        project: { id: 15, name: 'hello', path_with_namespace: 'jsmith/hello' },
        commits: [{ id: 'a'.repeat(40), message: 'Fix the door' }],
        total_commits_count: 1,
      },
    }),
    merge_request: ({ token }) => ({
      headers: { 'x-gitlab-event': 'Merge Request Hook', 'idempotency-key': `key-${token}` },
      body: {
        object_kind: 'merge_request',
        event_type: 'merge_request',
        user: { id: 1, username: 'jsmith' },
        project: { id: 15, name: 'hello' },
        object_attributes: { id: 99, iid: 1, action: 'open', state: 'opened', title: 'Fix the door' },
      },
    }),
  },
});
