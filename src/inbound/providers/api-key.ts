import { invalid } from '../../errors.ts';
import { defineProvider } from './define-provider.ts';
import { DAY_MS } from './durations.ts';
import { FREE_FORM_SAMPLES, FREE_FORM_SETTINGS, freeFormEvent } from './free-form-event.ts';
import { header, withHeaders } from './header.ts';
import type { InboundRequest } from './provider.ts';
import { isOneOf, textDigest } from './same-text.ts';
import { all, one, type SettingValues } from './settings.ts';
import { refused, VERIFIED } from './verdict.ts';

const DEFAULT_HEADER = 'x-api-key';

export const apiKey = defineProvider({
  name: 'api-key',
  title: 'A key in a header or in the URL',
  doc: 'A key that is sent as it is; the body is not signed. A key in the URL ends up in logs: prefer a header',
  settings: {
    key: { doc: 'the key that the sender sends', required: true, secret: true, list: true },
    header: { doc: `the header that holds the key; ${DEFAULT_HEADER} without it` },
    prefix: { doc: 'what stands before the key in the header, such as "Bearer "' },
    query: { doc: 'the query parameter that holds the key, instead of a header' },
    ...FREE_FORM_SETTINGS,
  },
  // Nobody knows how long this sender retries: as long as the longest that we know of.
  dedupeForMs: 30 * DAY_MS,
  prepare(settings) {
    if (one(settings, 'query') !== undefined && one(settings, 'header') !== undefined) {
      throw invalid(['settings', 'query'], 'and header cannot both be set: say where the key is');
    }
    const accepted = all(settings, 'key').map(textDigest);
    return (request) => {
      const given = givenKey(request, settings);
      if (given === undefined) return refused('no key where the settings say');
      return isOneOf(given, accepted) ? VERIFIED : refused('the key is none of the keys');
    };
  },
  sign(request, settings) {
    const [query, key] = [one(settings, 'query'), one(settings, 'key') ?? ''];
    if (query === undefined) {
      return withHeaders(request, { [headerName(settings)]: (one(settings, 'prefix') ?? '') + key });
    }
    const joint = request.url.includes('?') ? '&' : '?';
    return { ...request, url: `${request.url}${joint}${encodeURIComponent(query)}=${encodeURIComponent(key)}` };
  },
  eventOf: freeFormEvent,
  samples: FREE_FORM_SAMPLES,
});

function givenKey(request: InboundRequest, settings: SettingValues): string | undefined {
  const query = one(settings, 'query');
  if (query !== undefined) {
    const start = request.url.indexOf('?');
    const given = start < 0 ? [] : new URLSearchParams(request.url.slice(start + 1)).getAll(query);
    return given.length === 1 ? given[0] : undefined;
  }
  const text = header(request, headerName(settings));
  const prefix = one(settings, 'prefix') ?? '';
  return text?.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

function headerName(settings: SettingValues): string {
  return (one(settings, 'header') ?? DEFAULT_HEADER).toLowerCase();
}
