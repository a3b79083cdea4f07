/**
 * A webhook as most of them come: one POST, whole in one piece, in the plainest HTTP/1.1 there is. This is no parser of HTTP: what
 * could be read in two ways, or is not of exactly this form, is not read here but by Node's parser, from its first byte. So
 * nothing can be smuggled past it: what is read here, Node reads the same (plain-request.test.ts holds both against each other).
 */
import { maxHeaderSize } from 'node:http';

export interface PlainRequest {
  readonly url: string;
  /** Names in lower case, each once. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where it lies in what came. */
  readonly body: Uint8Array;
}

/** One space after the colon, none at the end, visible ASCII: of this much no two readers make different things. */
const HEAD = /^POST \/[\w.~/-]+ HTTP\/1\.1(?:\r\n[\w!#$%&'*+.^`|~-]+: [!-~](?:[ -~]*[!-~])?)+$/;
const METHOD = 'POST ';
const HEAD_END = Buffer.from('\r\n\r\n');
/** Half of what Node's parser takes, as it was started (--max-http-header-size), and of headers fewer. */
const MAX_HEAD_BYTES = Math.min(8 * 1024, maxHeaderSize / 2);
const LENGTH = /^(?:0|[1-9]\d{0,8})$/;
/** These change what follows, or are no text in Node's headers. */
const NOT_PLAIN: ReadonlySet<string> = new Set([
  'expect',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Undefined for whatever is not plain, not whole, or more than one request. */
export function readPlainRequest(bytes: Buffer, maxBodyBytes: number): PlainRequest | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0 || headEnd > MAX_HEAD_BYTES) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const headers = HEAD.test(head) ? headersOf(head) : undefined;
  if (headers === undefined || headers.host === undefined) return undefined;
  if (headers.connection !== undefined && headers.connection.toLowerCase() !== 'keep-alive') return undefined;
  const { 'content-length': length } = headers;
  const from = headEnd + HEAD_END.length;
  if (length === undefined || !LENGTH.test(length) || Number(length) !== bytes.length - from) return undefined;
  if (Number(length) > maxBodyBytes) return undefined;
  const url = head.slice(METHOD.length, head.indexOf(' ', METHOD.length));
  return { url, headers, body: bytes.subarray(from) };
}

function headersOf(head: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (let at = head.indexOf('\r\n') + 2; at < head.length; ) {
    const colon = head.indexOf(':', at);
    const end = head.indexOf('\r\n', colon);
    const to = end < 0 ? head.length : end;
    const name = head.slice(at, colon).toLowerCase();
    // Also what every object has: a header of that name is nobody's honest one. Read, not looked for with `in`: for names that
    // come from outside V8 does that the slow way.
    if (headers[name] !== undefined || NOT_PLAIN.has(name)) return undefined;
    headers[name] = head.slice(colon + 2, to);
    at = to + 2;
  }
  return headers;
}
