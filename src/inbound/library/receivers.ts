/** One source's receiver in the shapes that servers want: Request → Response, Node, Express, Fastify, Hono, Next.js. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../engine/index.ts';
import { describeError, PosthornError } from '../../errors.ts';
import { type RefusalCode, refusal } from '../answers.ts';
import type { Answer } from '../providers/index.ts';
import type { Receiver } from '../receive.ts';
import { headersOf, outsideUrl, readFetchRequest, readNodeRequest, type Unreadable } from './read-request.ts';

/** Express's `next`, as it is told of an error. */
type TellError = (error: unknown) => void;

export interface Receivers {
  /** For anything that speaks fetch: Hono, Next.js, Bun, Deno, workers. */
  receive(request: Request): Promise<Response>;
  /** For `http.createServer` and as an Express route; mount it before body parsers. */
  node(): (request: IncomingMessage, response: ServerResponse, next?: TellError) => void;
  /** For `server.register(source.fastify('/webhooks/stripe'))`; other routes keep their body parsers. */
  fastify(path: string): FastifyPluginAsync;
  /** For `app.all('/webhooks/stripe', source.hono())`. */
  hono(): (context: { readonly req: { readonly raw: Request } }) => Promise<Response>;
  /** For a route handler: `export const { GET, POST } = source.next()`; `nextRoute` opens the source when it is asked for. */
  next(): Readonly<Record<'GET' | 'POST', (request: Request) => Promise<Response>>>;
}

const UNREADABLE: Readonly<Record<Unreadable, readonly [code: RefusalCode, detail?: string]>> = {
  too_large: ['payload_too_large'],
  too_slow: ['bad_request', 'The body did not arrive in time'],
  cut_off: ['bad_request', 'The body did not arrive whole'],
  repeated_header: ['bad_request', 'A header that may be there once is there twice'],
};

/** Nothing that a sender is told stays out of the log: who waits for an event looks there. */
function refuse(receiver: Receiver, source: string, problem: Unreadable): Answer {
  const [code, detail] = UNREADABLE[problem];
  return receiver.refuse(code, source, problem.replaceAll('_', ' '), detail);
}

export interface ReceiversOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the source. */
  readonly name: string;
}

export function createReceivers(receiver: Receiver, { clock, logger, name }: ReceiversOptions): Receivers {
  async function receive(request: Request): Promise<Response> {
    const read = await readFetchRequest(request, receiver.maxBodyBytes);
    const answer = typeof read === 'string' ? refuse(receiver, name, read) : await receiver.receive(name, read);
    // A 204 with a body, even an empty one, cannot be made.
    return new Response(answer.body || null, { status: answer.status, headers: answer.headers });
  }

  async function answerNode(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const read = await readNodeRequest(request, receiver.maxBodyBytes, clock);
    const answer = typeof read === 'string' ? refuse(receiver, name, read) : await receiver.receive(name, read);
    // What is still to come of a body that was refused would be read as the next request.
    if (typeof read === 'string') response.setHeader('connection', 'close');
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  /** Of the program: told to its framework or its log, and not to the sender, who is to send it again. */
  function fail(error: unknown, response: ServerResponse, next: TellError | undefined): void {
    if (next !== undefined) {
      next(error);
      return;
    }
    logger.error({ source: name, error: describeError(error) }, 'a webhook could not be taken');
    const { status, headers, body } = refusal('unavailable');
    // Nobody may read on what was read in part.
    response.writeHead(status, { ...headers, connection: 'close' }).end(body);
  }

  return {
    receive,
    node(...given: readonly unknown[]) {
      if (given.length > 0) {
        const [, response, next] = given as [unknown, ServerResponse?, TellError?];
        // Thrown to a plain server, it would end the process with the first request of anybody.
        if (typeof response?.writeHead !== 'function') throw notCalled('node');
        fail(notCalled('node'), response, next);
      }
      return (request, response, next) => {
        answerNode(request, response).catch((error: unknown) => fail(error, response, next));
      };
    },
    fastify(path) {
      if (typeof path !== 'string') throw notPlugged('fastify() takes the path to receive on', '/webhooks');
      return async (server) => {
        // As a route's handler it would be given a request in place of a server.
        if (typeof server.removeAllContentTypeParsers !== 'function') {
          throw notPlugged('fastify() makes a plugin, and no handler of a route', path);
        }
        if (!/^[/*]/.test(server.prefix + path)) throw notPlugged('the path must begin with a slash', `/${path}`);
        receivingRoute(server, receiver, path, () => ({ source: name }));
      };
    },
    hono(...given: readonly unknown[]) {
      if (given.length > 0) throw notCalled('hono');
      return (context) => receive(context.req.raw);
    },
    next: () => ({ GET: receive, POST: receive }),
  };
}

/** `app.post(path, source.node)`: the handler that it makes is called by nobody, and the request would wait for ever. */
function notCalled(method: 'node' | 'hono'): PosthornError {
  return new PosthornError(
    'validation',
    `${method}() makes a handler and takes nothing: write source.${method}(), and not source.${method} itself`,
  );
}

function notPlugged(problem: string, path: string): PosthornError {
  return new PosthornError('validation', `${problem}: write app.register(source.fastify(${JSON.stringify(path)}))`);
}

/** What a path names: a source and, where the path is one of ours, what follows it, empty for nothing. */
interface Place {
  readonly source: string;
  readonly urlToken?: string;
}

/** Nearly all that a framework knows: what is refused for its method is told and logged like everything else. */
export const ROUTED_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
]);

/** Registers the route with a body parser that keeps bytes, on an instance that has no other routes. */
export function receivingRoute(
  server: FastifyInstance,
  receiver: Receiver,
  path: string,
  placeOf: (params: Readonly<Record<string, string | undefined>>) => Place,
): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: receiver.maxBodyBytes }, (_, body, done) => {
    done(null, body);
  });
  server.route({
    method: [...ROUTED_METHODS],
    url: path,
    schema: { hide: true } as object,
    // Bytes are bytes, and not refused for a type that nobody here reads; providers see the headers as they came.
    preParsing(request, _, __, done) {
      delete request.headers['content-type'];
      done();
    },
    // Of the body parser alone: the receiver answers, and never throws.
    errorHandler(error, request, reply) {
      const { source } = placeOf(request.params as Record<string, string>);
      const isLarge = (error as { code?: unknown }).code === 'FST_ERR_CTP_BODY_TOO_LARGE';
      const answer = refuse(receiver, source, isLarge ? 'too_large' : 'cut_off');
      void reply
        .code(answer.status)
        .headers({ ...answer.headers, connection: 'close' })
        .send(answer.body);
    },
    async handler(request, reply) {
      const { raw, params, body } = request;
      const { source, urlToken } = placeOf(params as Record<string, string>);
      const headers = headersOf(raw.rawHeaders);
      const url = outsideUrl(raw.url ?? '/', headers ?? {}, 'encrypted' in raw.socket);
      const bytes = body instanceof Uint8Array ? body : new Uint8Array();
      const answer =
        headers === undefined
          ? refuse(receiver, source, 'repeated_header')
          : await receiver.receive(source, { method: request.method, url, headers, body: bytes }, urlToken);
      return reply.code(answer.status).headers(answer.headers).send(answer.body);
    },
  });
}
