import type { Content } from '../../signing/index.ts';
import { decode, type Encoding } from './encoded.ts';
import { header, withHeaders } from './header.ts';
import { DIGEST_BYTES, type HmacAlgorithm, hmacKeys, isHmac, signHmac } from './hmac.ts';
import type { InboundRequest, Verdict } from './provider.ts';
import { all, type SettingValues } from './settings.ts';
import { formatTimestamp, outsideWindow, parseTimestamp, type TimestampUnit } from './timestamp.ts';
import { refused, VERIFIED } from './verdict.ts';

/** The commonest way to sign: an HMAC in one header, over the body and perhaps a timestamp from another. */
export interface HmacScheme {
  /** The setting that holds the secrets. */
  readonly secret: string;
  readonly algorithm: HmacAlgorithm;
  readonly encoding: Encoding;
  readonly header: string;
  /** Before the signature in the header: `sha256=`. */
  readonly prefix?: string;
  readonly timestamp?: { readonly header: string; readonly unit: TimestampUnit };
  /** The body alone without it. `timestamp` is the header's text, empty when the scheme has none. */
  content?(request: InboundRequest, timestamp: string, settings: SettingValues): Content;
}

export interface HmacVerification {
  prepare(settings: SettingValues, toleranceMs: number): (request: InboundRequest, ports: { now: number }) => Verdict;
  sign(request: InboundRequest, settings: SettingValues, now: number): InboundRequest;
}

export function hmacScheme(scheme: HmacScheme): HmacVerification {
  const { algorithm, encoding, timestamp } = scheme;
  const prefix = scheme.prefix ?? '';
  const content = scheme.content ?? ((request: InboundRequest): Content => [request.body]);

  return {
    prepare(settings, toleranceMs) {
      const keys = hmacKeys(all(settings, scheme.secret));
      return (request, { now }) => {
        const text = header(request, scheme.header);
        if (text === undefined) return refused(`no ${scheme.header} header`);
        let sentAt = '';
        if (timestamp !== undefined) {
          sentAt = header(request, timestamp.header) ?? '';
          const timeMs = parseTimestamp(sentAt, timestamp.unit);
          if (timeMs === undefined) return refused(`no readable ${timestamp.header} header`);
          const problem = outsideWindow(timeMs, now, toleranceMs);
          if (problem !== undefined) return refused(problem);
        }
        const signature = text.startsWith(prefix)
          ? decode(text.slice(prefix.length), encoding, DIGEST_BYTES[algorithm])
          : undefined;
        if (signature === undefined) return refused(`${scheme.header} is not ${prefix}<${algorithm} as ${encoding}>`);
        return isHmac(algorithm, keys, content(request, sentAt, settings), [signature])
          ? VERIFIED
          : refused('the signature matches none of the secrets');
      };
    },

    sign(request, settings, now) {
      const sentAt = timestamp === undefined ? '' : formatTimestamp(now, timestamp.unit);
      const keys = hmacKeys(all(settings, scheme.secret));
      const signature = signHmac(algorithm, keys, content(request, sentAt, settings)).toString(encoding);
      return withHeaders(request, {
        ...(timestamp === undefined ? {} : { [timestamp.header]: sentAt }),
        [scheme.header]: prefix + signature,
      });
    },
  };
}
