/** One source's receiver in the shapes that servers want: Request → Response, Node, Express, Fastify, Hono, Next.js. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { Clock } from '../../clock.ts';
import { describeError, isPosthornError } from '../../errors.ts';
import { refusal } from '../answers.ts';
import type { Answer } from '../providers/index.ts';
import type { Receiver } from '../receive.ts';
import { headersOf, outsideUrl, readFetchRequest, readNodeRequest, type Unreadable } from './read-request.ts';

export interface Receivers {
  /** For anything that speaks fetch: Hono, Next.js, Bun, Deno, workers. */
  receive(request: Request): Promise<Response>;
  /** For `http.createServer` and as an Express route; mount it before body parsers. */
  node(): (request: IncomingMessage, response: ServerResponse, next?: (error: unknown) => void) => void;
  /** For `server.register(source.fastify('/webhooks/stripe'))`; other routes keep their body parsers. */
  fastify(path: string): FastifyPluginAsync;
  /** For `app.all('/webhooks/stripe', source.hono())`. */
  hono(): (context: { readonly req: { readonly raw: Request } }) => Promise<Response>;
  /** For a route handler: `export const { GET, POST } = source.next()`. */
  next(): Readonly<Record<'GET' | 'POST', (request: Request) => Promise<Response>>>;
}

const UNREADABLE: Readonly<Record<Unreadable, Answer>> = {
  too_large: refusal('payload_too_large'),
  too_slow: refusal('bad_request', 'The body did not arrive in time'),
  cut_off: refusal('bad_request', 'The body did not arrive whole'),
  repeated_header: refusal('bad_request', 'A header that may be there once is there twice'),
};

export function createReceivers(receiver: Receiver, clock: Clock, name: () => Promise<string>): Receivers {
  async function receive(request: Request): Promise<Response> {
    const source = await name();
    const read = await readFetchRequest(request, receiver.maxBodyBytes);
    const { status, headers, body } =
      typeof read === 'string' ? UNREADABLE[read] : await receiver.receive(source, read);
    return new Response(body, { status, headers });
  }

  async function answerNode(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const source = await name();
    const read = await readNodeRequest(request, receiver.maxBodyBytes, clock);
    const answer = typeof read === 'string' ? UNREADABLE[read] : await receiver.receive(source, read);
    // What is still to come of a body that was refused would be read as the next request.
    if (typeof read === 'string') response.setHeader('connection', 'close');
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  return {
    receive,
    node() {
      return (request, response, next) => {
        answerNode(request, response).catch((error: unknown) => {
          if (next !== undefined) return next(error);
          const body = JSON.stringify({
            code: isPosthornError(error) ? error.code : 'internal_error',
            detail: describeError(error),
          });
          response.writeHead(500, { 'content-type': 'application/json; charset=utf-8' }).end(body);
        });
      };
    },
    fastify: (path) => async (server) => receivingRoute(server, receiver, path, name),
    hono: () => (context) => receive(context.req.raw),
    next: () => ({ GET: receive, POST: receive }),
  };
}

/** Registers the route with a body parser that keeps bytes, on an instance that has no other routes. */
export function receivingRoute(
  server: FastifyInstance,
  receiver: Receiver,
  path: string,
  name: (params: Readonly<Record<string, string>>) => Promise<string> | string,
): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: receiver.maxBodyBytes }, (_, body, done) => {
    done(null, body);
  });
  server.route({
    method: ['GET', 'POST'],
    url: path,
    schema: { hide: true } as object,
    async handler(request, reply) {
      const { raw, params, body } = request;
      const source = await name(params as Record<string, string>);
      const headers = headersOf(raw.rawHeaders);
      const url = outsideUrl(raw.url ?? '/', headers ?? {}, 'encrypted' in raw.socket);
      const bytes = body instanceof Uint8Array ? body : new Uint8Array();
      const answer =
        headers === undefined
          ? UNREADABLE.repeated_header
          : await receiver.receive(source, { method: request.method, url, headers, body: bytes });
      return reply.code(answer.status).headers(answer.headers).send(answer.body);
    },
  });
}
