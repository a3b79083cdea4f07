/** A running server's API, for commands that act on it: they never open the store behind its back. */

import type { Environment } from '../config/index.ts';
import { describeError, type ErrorCode, type Issue, PosthornError } from '../errors.ts';

export interface ServerAddress {
  readonly url?: string;
  readonly token?: string;
}

export type Query = Readonly<Record<string, string | undefined>>;

/** Paths are under /api/v1, unless they begin with a slash. */
export interface ApiClient {
  get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
  delete(path: string): Promise<void>;
  postLines<T>(path: string, lines: string): Promise<T>;
  /** The body as it arrives, in pieces of text. */
  stream(path: string, query?: Query): Promise<AsyncIterable<string>>;
}

interface Sent {
  readonly query?: Query;
  readonly body?: string;
  readonly type?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Where commands look for the server when nobody says where it is. */
export const DEFAULT_URL = 'http://127.0.0.1:8420';

/** Where the server is, without a slash at the end. */
export function serverUrl(address: ServerAddress, env: Environment): string {
  const base = (address.url ?? (env.POSTHORN_URL || DEFAULT_URL)).replace(/\/+$/, '');
  if (URL.canParse(base)) return base;
  throw new PosthornError('validation', `${JSON.stringify(base)} is no URL; write it as ${DEFAULT_URL}`);
}

export function createApiClient(address: ServerAddress, env: Environment): ApiClient {
  const base = serverUrl(address, env);
  const token = address.token ?? env.POSTHORN_ADMIN_TOKEN ?? '';
  if (token === '') {
    throw new PosthornError('validation', 'There is no token: set POSTHORN_ADMIN_TOKEN, or give --token');
  }

  async function send(method: string, path: string, { query = {}, body, type, signal }: Sent = {}) {
    const url = new URL(path.startsWith('/') ? `${base}${path}` : `${base}/api/v1/${path}`);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    const contentType = body === undefined ? {} : { 'content-type': type ?? 'application/json' };
    const headers = { authorization: `Bearer ${token}`, ...contentType };
    const options = { method, headers, ...(body !== undefined && { body }), ...(signal && { signal }) };
    const answer = await fetch(url, options).catch((cause) => {
      const why = describeError(cause instanceof Error && cause.cause !== undefined ? cause.cause : cause);
      throw new PosthornError(
        'not_ready',
        `No server answers at ${base} (${why}); --url or POSTHORN_URL says where it is`,
      );
    });
    if (answer.ok) return answer;
    throw toError(answer.status, await answer.text());
  }

  const read = async <T>(answer: Promise<Response>) => (await (await answer).json()) as T;
  return {
    get: <T>(path: string, query: Query = {}, signal?: AbortSignal) => read<T>(send('GET', path, { query, signal })),
    post: <T>(path: string, body: object) => read<T>(send('POST', path, { body: JSON.stringify(body) })),
    delete: async (path) => void (await send('DELETE', path)),
    postLines: <T>(path: string, lines: string) =>
      read<T>(send('POST', path, { body: lines, type: 'application/x-ndjson' })),
    async stream(path, query = {}) {
      const { body } = await send('GET', path, { query });
      return body === null ? noText() : texts(body);
    },
  };
}

async function* noText(): AsyncGenerator<string> {}

async function* texts(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of body) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

/**
 * An id or uid as a part of a path. What a variable that nobody set leaves would make it the path of the list, and dots
 * another one above it.
 */
export function pathPart(idOrUid: string): string {
  if (!['', '.', '..'].includes(idOrUid.trim())) return encodeURIComponent(idOrUid);
  throw new PosthornError('validation', `${JSON.stringify(idOrUid)} is no id and no uid: is a variable not set?`);
}

const REQUEST_PARTS = ['body', 'query', 'params', 'headers'];

/** Which part of the request a field was in is the API's matter; some findings begin with the field itself. */
export function describeIssue({ loc: [first = '', ...rest], msg }: Issue): string {
  const place = REQUEST_PARTS.includes(first) ? rest : [first, ...rest];
  return `${place.join('.')} ${msg}`.trimStart();
}

/** The server's own words. */
function toError(status: number, text: string): PosthornError {
  let answer: { code?: ErrorCode; detail?: string | readonly Issue[] } = {};
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    // Not a Posthorn server, or something in between.
  }
  const { code, detail } = answer;
  if (Array.isArray(detail)) {
    const issues = detail as readonly Issue[];
    return new PosthornError('validation', issues.map(describeIssue).join('; '), { issues });
  }
  if (typeof detail === 'string') return new PosthornError(code ?? 'not_ready', detail);
  return new PosthornError('not_ready', `The server answered ${status}: is it a Posthorn server?`);
}
