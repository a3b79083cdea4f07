import { invalid } from '../../errors.ts';
import type { Content } from '../../signing/index.ts';
import { defineProvider } from './define-provider.ts';
import { DAY_MS, MINUTE_MS } from './durations.ts';
import type { Encoding } from './encoded.ts';
import { FREE_FORM_SAMPLES, FREE_FORM_SETTINGS, freeFormEvent } from './free-form-event.ts';
import type { HmacAlgorithm } from './hmac.ts';
import { type HmacVerification, hmacScheme } from './hmac-scheme.ts';
import type { InboundRequest } from './provider.ts';
import { one, type SettingValues } from './settings.ts';
import type { TimestampUnit } from './timestamp.ts';

const DEFAULT_HEADER = 'x-signature';

export const genericHmac = defineProvider({
  name: 'generic-hmac',
  aliases: ['hmac', 'webhook'],
  title: 'Any sender that signs with an HMAC',
  doc: 'An HMAC in a header, over the body or over a template with timestamp, method and URL',
  settings: {
    secret: { doc: 'the secret that the sender signs with', required: true, secret: true, list: true },
    algorithm: { doc: 'sha256 without it', oneOf: ['sha1', 'sha256', 'sha384', 'sha512'] },
    encoding: { doc: 'how the signature is written; hex without it', oneOf: ['hex', 'base64', 'base64url'] },
    header: { doc: `the header that holds the signature; ${DEFAULT_HEADER} without it` },
    prefix: { doc: 'what stands before the signature in the header, such as sha256=' },
    timestampHeader: {
      doc: 'the header that holds the time of signing; without it, nothing stops a replay but the event id',
    },
    timestampUnit: { doc: 'how that time is written; s without it', oneOf: ['s', 'ms', 'iso'] },
    template: {
      doc: 'what is signed, with {timestamp}, {body}, {method} and {url}; {body}, or {timestamp}.{body}, without it',
    },
    ...FREE_FORM_SETTINGS,
  },
  // Used where a timestamp is signed.
  toleranceMs: 5 * MINUTE_MS,
  // Nobody knows how long this sender retries: as long as the longest that we know of.
  dedupeForMs: 30 * DAY_MS,
  prepare: (settings, toleranceMs) => schemeOf(settings).prepare(settings, toleranceMs),
  sign: (request, settings, now) => schemeOf(settings).sign(request, settings, now),
  eventOf: freeFormEvent,
  samples: FREE_FORM_SAMPLES,
});

function schemeOf(settings: SettingValues): HmacVerification {
  const timestampHeader = one(settings, 'timestampHeader')?.toLowerCase();
  const template = one(settings, 'template') ?? (timestampHeader === undefined ? '{body}' : '{timestamp}.{body}');
  const pieces = readTemplate(template, timestampHeader !== undefined);
  return hmacScheme({
    secret: 'secret',
    algorithm: (one(settings, 'algorithm') ?? 'sha256') as HmacAlgorithm,
    encoding: (one(settings, 'encoding') ?? 'hex') as Encoding,
    header: (one(settings, 'header') ?? DEFAULT_HEADER).toLowerCase(),
    prefix: one(settings, 'prefix') ?? '',
    ...(timestampHeader === undefined
      ? {}
      : { timestamp: { header: timestampHeader, unit: (one(settings, 'timestampUnit') ?? 's') as TimestampUnit } }),
    content: (request, timestamp) => pieces.map((piece) => fill(piece, request, timestamp)),
  });
}

/** A timestamp that is checked but not signed could be made new by anyone, and a body must be signed at all. */
function readTemplate(template: string, hasTimestamp: boolean): readonly string[] {
  const pieces = template.split(/(\{[^{}]*\})/).filter((piece) => piece !== '');
  const unknown = pieces.find(
    (piece) => piece.startsWith('{') && !['{timestamp}', '{body}', '{method}', '{url}'].includes(piece),
  );
  if (unknown !== undefined) {
    throw invalid(['settings', 'template'], `knows {timestamp}, {body}, {method} and {url}, but not ${unknown}`);
  }
  if (!pieces.includes('{body}'))
    throw invalid(['settings', 'template'], 'must have {body}, or anyone could change it');
  if (pieces.includes('{timestamp}') !== hasTimestamp) {
    throw invalid(['settings', 'template'], 'must have {timestamp} if, and only if, timestampHeader is set');
  }
  return pieces;
}

function fill(piece: string, request: InboundRequest, timestamp: string): Content[number] {
  switch (piece) {
    case '{body}':
      return request.body;
    case '{timestamp}':
      return timestamp;
    case '{method}':
      return request.method;
    case '{url}':
      return request.url;
    default:
      return piece;
  }
}
