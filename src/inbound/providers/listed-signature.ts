import { decode } from './encoded.ts';
import { header, withHeaders } from './header.ts';
import { hmacKeys, isHmac, signHmac } from './hmac.ts';
import type { HmacVerification } from './hmac-scheme.ts';
import { all } from './settings.ts';
import { formatTimestamp, outsideWindow, parseTimestamp } from './timestamp.ts';
import { refused, VERIFIED } from './verdict.ts';

/** One header that lists a timestamp and signatures: `t=1700000000,v1=…,v1=…`. */
export interface ListedSignature {
  readonly secret: string;
  readonly header: string;
  readonly separator: ',' | ';';
  readonly timeName: string;
  readonly signatureName: string;
  /** Between timestamp and body in what is signed. */
  readonly joint: '.' | ':';
}

/** A provider in rotation signs with two; a stranger's thousand must not be compared. */
const MOST_PARTS = 32;

interface Parts {
  readonly time: string;
  readonly signatures: readonly Buffer[];
}

export function listedSignature(scheme: ListedSignature): HmacVerification {
  return {
    prepare(settings, toleranceMs) {
      const keys = hmacKeys(all(settings, scheme.secret));
      return (request, { now }) => {
        const text = header(request, scheme.header);
        if (text === undefined) return refused(`no ${scheme.header} header`);
        const parts = readParts(text, scheme);
        if (typeof parts === 'string') return refused(parts);
        const timeMs = parseTimestamp(parts.time, 's');
        if (timeMs === undefined) return refused(`the timestamp in ${scheme.header} is not a number of seconds`);
        const problem = outsideWindow(timeMs, now, toleranceMs);
        if (problem !== undefined) return refused(problem);
        return isHmac('sha256', keys, [`${parts.time}${scheme.joint}`, request.body], parts.signatures)
          ? VERIFIED
          : refused('the signature matches none of the secrets');
      };
    },

    sign(request, settings, now) {
      const time = formatTimestamp(now, 's');
      const keys = hmacKeys(all(settings, scheme.secret));
      const signature = signHmac('sha256', keys, [`${time}${scheme.joint}`, request.body]).toString('hex');
      const { header: name, timeName, separator, signatureName } = scheme;
      return withHeaders(request, { [name]: `${timeName}=${time}${separator}${signatureName}=${signature}` });
    },
  };
}

/** Names that we do not know are skipped (Stripe sends `v0` from test mode). Two timestamps are two stories. */
function readParts(
  text: string,
  { separator, timeName, signatureName, header: name }: ListedSignature,
): Parts | string {
  const parts = text.split(separator, MOST_PARTS + 1);
  if (parts.length > MOST_PARTS) return `${name} has more than ${MOST_PARTS} parts`;
  let time: string | undefined;
  const signatures: Buffer[] = [];
  for (const part of parts) {
    const equals = part.indexOf('=');
    const key = part.slice(0, equals).trim();
    const value = part.slice(equals + 1).trim();
    if (key === timeName) {
      if (time !== undefined) return `${name} has two timestamps`;
      time = value;
    } else if (key === signatureName) {
      const bytes = decode(value, 'hex', 32);
      if (bytes === undefined) return `${name} has a ${signatureName}= that is not hex of 32 bytes`;
      signatures.push(bytes);
    }
  }
  if (time === undefined) return `${name} has no ${timeName}=`;
  return signatures.length === 0 ? `${name} has no ${signatureName}=` : { time, signatures };
}
