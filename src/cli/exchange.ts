/** One request with exactly these headers and bytes, and what came back. Redirects are answers: nothing follows them. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Clock } from '../clock.ts';
import { describeError } from '../errors.ts';

export interface Outgoing {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly signal?: AbortSignal;
}

export type Exchanged =
  | { readonly status: number; readonly body: string; readonly durationMs: number }
  | { readonly error: string; readonly durationMs: number };

const TIMEOUT_MS = 30_000;
/** More of an answer than this is of no use in a terminal. */
const LONGEST_ANSWER_BYTES = 64 * 1024;
/** Of the connection that they came over: written anew for this one. */
const NOT_SENT = new Set(
  'connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding upgrade'.split(' '),
);

export async function exchange({ url, headers, body, signal }: Outgoing, clock: Clock): Promise<Exchanged> {
  const startedAt = clock.now();
  const ended = new AbortController();
  const end = () => ended.abort();
  const timer = clock.after(TIMEOUT_MS, end);
  signal?.addEventListener('abort', end);
  try {
    const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !NOT_SENT.has(name.toLowerCase())));
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(url, {
        method: 'POST',
        headers: { ...sent, 'content-length': String(body.byteLength) },
        signal: ended.signal,
        agent: false,
      })
        .on('response', resolve)
        .on('error', reject)
        .end(body);
    });
    const text = await readText(answer);
    return { status: answer.statusCode ?? 0, body: text, durationMs: clock.now() - startedAt };
  } catch (error) {
    const late = ended.signal.aborted && signal?.aborted !== true;
    const why = late ? `no answer in ${TIMEOUT_MS / 1000} s` : whyOf(error, url);
    return { error: why, durationMs: clock.now() - startedAt };
  } finally {
    timer.cancel();
    signal?.removeEventListener('abort', end);
  }
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > LONGEST_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, LONGEST_ANSWER_BYTES).toString('utf8');
}

function whyOf(error: unknown, { host }: URL): string {
  const { code } = error as { code?: unknown };
  return code === 'ECONNREFUSED' ? `nothing listens at ${host}` : describeError(error);
}
