import { defineProvider } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { header } from './header.ts';
import { hmacScheme } from './hmac-scheme.ts';
import { inboundEvent } from './inbound-event.ts';

export const github = defineProvider({
  name: 'github',
  title: 'GitHub',
  doc: 'X-Hub-Signature-256: HMAC-SHA256 over the body; id and type come in headers that are not signed',
  settings: {
    secret: { doc: 'the secret from the settings of the webhook', required: true, secret: true, list: true },
  },
  // GitHub does not retry; a person can redeliver for 3 days, with the same X-GitHub-Delivery.
  dedupeForMs: 4 * DAY_MS,
  ...hmacScheme({
    secret: 'secret',
    algorithm: 'sha256',
    encoding: 'hex',
    header: 'x-hub-signature-256',
    prefix: 'sha256=',
  }),
  eventOf: (request) =>
    inboundEvent({ id: header(request, 'x-github-delivery'), type: header(request, 'x-github-event') }),
  samples: {
    push: ({ token }) => ({
      headers: {
        'x-github-event': 'push',
        'x-github-delivery': `delivery-${token}`,
        'user-agent': 'GitHub-Hookshot/sample',
      },
      body: {
        ref: 'refs/heads/main',
        before: '0'.repeat(40),
        after: 'a'.repeat(40),
        commits: [{ id: 'a'.repeat(40), message: 'Fix the door', author: { name: 'Mona', email: 'mona@example.com' } }],
        repository: REPOSITORY,
        pusher: { name: 'mona', email: 'mona@example.com' },
        sender: SENDER,
      },
    }),
    pull_request: ({ token }) => ({
      headers: { 'x-github-event': 'pull_request', 'x-github-delivery': `delivery-${token}` },
      body: {
        action: 'opened',
        number: 7,
        pull_request: { id: 1, number: 7, state: 'open', title: 'Fix the door', user: SENDER, merged: false },
        repository: REPOSITORY,
        sender: SENDER,
      },
    }),
    ping: ({ token }) => ({
      headers: { 'x-github-event': 'ping', 'x-github-delivery': `delivery-${token}` },
      body: { zen: 'Keep it logically awesome.', hook_id: 1, repository: REPOSITORY, sender: SENDER },
    }),
  },
});

const SENDER = { login: 'mona', id: 1, type: 'User' };
const REPOSITORY = { id: 1, name: 'hello', full_name: 'mona/hello', private: false, owner: SENDER };
