import { invalid } from '../../errors.ts';
import { defineProvider } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { decodeBase64 } from './encoded.ts';
import { FREE_FORM_SAMPLES, FREE_FORM_SETTINGS, freeFormEvent } from './free-form-event.ts';
import { header, withHeaders } from './header.ts';
import { isOneOf, textDigest } from './same-text.ts';
import { all, one } from './settings.ts';
import { refused, VERIFIED } from './verdict.ts';

export const basic = defineProvider({
  name: 'basic',
  title: 'HTTP basic authentication',
  doc: 'Authorization: Basic with a user name and a password; the body is not signed',
  settings: {
    username: { doc: 'the user name that the sender uses', required: true },
    password: { doc: 'the password that the sender uses', required: true, secret: true, list: true },
    ...FREE_FORM_SETTINGS,
  },
  // Senders that wait to be asked send no password before they are.
  refusedHeaders: { 'www-authenticate': 'Basic realm="webhooks", charset="UTF-8"' },
  // Nobody knows how long this sender retries: as long as the longest that we know of.
  dedupeForMs: 30 * DAY_MS,
  prepare(settings) {
    const username = one(settings, 'username') ?? '';
    if (username.includes(':')) throw invalid(['settings', 'username'], 'must not have a colon, which ends it');
    const accepted = all(settings, 'password').map((password) => textDigest(`${username}:${password}`));
    return (request) => {
      const [, encoded] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header(request, 'authorization') ?? '') ?? [];
      const given = encoded === undefined ? undefined : decodeBase64(encoded, 8192);
      if (given === undefined) return refused('no basic authorization header');
      return isOneOf(given.toString(), accepted) ? VERIFIED : refused('wrong user name or password');
    };
  },
  sign(request, settings) {
    const credentials = Buffer.from(`${one(settings, 'username')}:${one(settings, 'password')}`).toString('base64');
    return withHeaders(request, { authorization: `Basic ${credentials}` });
  },
  eventOf: freeFormEvent,
  samples: FREE_FORM_SAMPLES,
});
