/** Requests of every kind, as raw bytes and lower-case headers. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../clock.ts';
import { PosthornError } from '../../errors.ts';
import type { InboundRequest } from '../providers/index.ts';

/** Headers that may honestly come more than once. Any other that does is an attempt to show two readers two things. */
const MAY_REPEAT =
  /^(accept|accept-.*|cache-control|connection|cookie|forwarded|pragma|prefer|te|trailer|transfer-encoding|upgrade|via|warning|x-forwarded-.*|cf-.*|cdn-loop)$/;
const READ_TIMEOUT_MS = 30_000;

export type Unreadable = 'too_large' | 'too_slow' | 'cut_off' | 'repeated_header';

/** The headers of a request as Node keeps them; undefined when one that must not be there twice is. */
export function headersOf(rawHeaders: readonly string[]): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase();
    const value = rawHeaders[i + 1] ?? '';
    const earlier = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (earlier !== undefined && !MAY_REPEAT.test(name)) return undefined;
    headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  return headers;
}

/** The URL as the provider called it, before any proxy. A forged header gains nothing: what matters of it is signed. */
export function outsideUrl(path: string, headers: Readonly<Record<string, string>>, encrypted: boolean): string {
  const first = (name: string) => headers[name]?.split(',')[0]?.trim();
  const scheme = first('x-forwarded-proto') ?? (encrypted ? 'https' : 'http');
  return `${scheme}://${first('x-forwarded-host') ?? headers.host ?? 'localhost'}${path}`;
}

export async function readFetchRequest(request: Request, maxBytes: number): Promise<InboundRequest | Unreadable> {
  if (!isFetchRequest(request)) throw notFetch();
  if (request.bodyUsed) throw alreadyParsed('Hand the request over before anything calls its json() or text().');
  const headers = Object.fromEntries(request.headers);
  if (Number(headers['content-length'] ?? 0) > maxBytes) return 'too_large';
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    const reader = request.body?.getReader();
    for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
      length += part.value.byteLength;
      if (length > maxBytes) {
        await reader?.cancel();
        return 'too_large';
      }
      chunks.push(part.value);
    }
  } catch {
    return 'cut_off';
  }
  const { pathname, search, protocol } = new URL(request.url);
  const outside = headers['x-forwarded-host'] ?? headers['x-forwarded-proto'];
  const url = outside === undefined ? request.url : outsideUrl(`${pathname}${search}`, headers, protocol === 'https:');
  return { method: request.method, url, headers, body: Buffer.concat(chunks) };
}

/** By its shape: frameworks and other realms have a Request of their own. */
function isFetchRequest(given: unknown): boolean {
  const { url, headers } = (given ?? {}) as Partial<Request>;
  return typeof url === 'string' && typeof headers?.get === 'function';
}

/** What Express and others add to a request. */
type NodeRequest = IncomingMessage & {
  readonly body?: unknown;
  readonly rawBody?: unknown;
  readonly originalUrl?: string;
};

export async function readNodeRequest(
  request: NodeRequest,
  maxBytes: number,
  clock: Clock,
): Promise<InboundRequest | Unreadable> {
  const headers = headersOf(request.rawHeaders);
  if (headers === undefined) return 'repeated_header';
  if (Number(headers['content-length'] ?? 0) > maxBytes) return 'too_large';
  const body = earlierBytes(request) ?? (await readStream(request, maxBytes, clock));
  if (typeof body === 'string') return body;
  if (body.byteLength > maxBytes) return 'too_large';
  const encrypted = 'encrypted' in request.socket;
  const url = outsideUrl(request.originalUrl ?? request.url ?? '/', headers, encrypted);
  return { method: request.method ?? 'GET', url, headers, body };
}

/** Bytes that a middleware kept (`express.raw`, a platform's `rawBody`); an object has lost what was signed. */
function earlierBytes({ rawBody, body, readableEnded, readableDidRead, method }: NodeRequest): Uint8Array | undefined {
  if (rawBody instanceof Uint8Array) return rawBody;
  if (body instanceof Uint8Array) return body;
  // What was read in part is lost too: the rest would be refused for its signature, or waited for.
  if ((readableEnded || readableDidRead) && method !== 'GET' && method !== 'HEAD') {
    throw alreadyParsed(
      'Mount it before express.json() and all else that reads bodies, or use express.raw({ type: "*/*" }) on its path.',
    );
  }
  return undefined;
}

function readStream(request: IncomingMessage, maxBytes: number, clock: Clock): Promise<Uint8Array | Unreadable> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const end = (result: Uint8Array | Unreadable) => {
      timer.cancel();
      request.removeAllListeners('data');
      resolve(result);
    };
    const timer = clock.after(READ_TIMEOUT_MS, () => end('too_slow'));
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > maxBytes) end('too_large');
    });
    request.once('end', () => end(Buffer.concat(chunks)));
    request.once('aborted', () => end('cut_off'));
    request.once('error', () => end('cut_off'));
  });
}

function notFetch(): PosthornError {
  return new PosthornError(
    'validation',
    "receive() takes a fetch Request. For Node's and Express's requests mount node(): app.use(path, source.node()); " +
      'fastify(path) and hono() are for those two.',
  );
}

function alreadyParsed(whatToDo: string): PosthornError {
  return new PosthornError(
    'missing_payload',
    `The body of this webhook was read before Posthorn got it, and signatures are made over its exact bytes. ${whatToDo}`,
  );
}
