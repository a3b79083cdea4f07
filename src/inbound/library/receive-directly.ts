/**
 * The short way in. A plain POST to a source is read and answered on Node's own request and response, past the
 * framework's router, hooks and parsers, which cost a third of a bare verifying route (127 µs with them, 88 without,
 * November 2026). Whatever is not plain goes to the framework's route for the same path, which knows every case.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Answer } from '../providers/index.ts';
import type { Receiver } from '../receive.ts';
import { outsideUrl } from './read-request.ts';
import { WholeRequest } from './whole-request.ts';

/** Letters that mean themselves in a path. A query, an escape or an empty part is the framework's. */
const PLAIN = /^[\w.~-]{1,256}$/;
const LENGTH = /^\d{1,9}$/;

/** On a server whose requests are WholeRequests, and that has a receivingRoute at `${prefix}:source/:token?`, before it listens. */
export function receiveDirectly(server: FastifyInstance, receiver: Receiver, prefix: string): void {
  const [framework] = server.server.listeners('request') as RequestListener[];
  if (framework === undefined) return;
  let isClosing = false;
  server.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = '' } = request;
    const place = method === 'POST' && !isClosing && url.startsWith(prefix) ? url.slice(prefix.length) : '';
    const slash = place.indexOf('/');
    const name = slash < 0 ? place : place.slice(0, slash);
    const urlToken = slash < 0 ? '' : place.slice(slash + 1);
    const isOurs = PLAIN.test(name) && (slash < 0 || PLAIN.test(urlToken));
    const headers = isOurs ? headersEachOnce(request) : undefined;
    if (headers === undefined || !isPlain(headers, receiver.maxBodyBytes) || !(request instanceof WholeRequest)) {
      framework?.call(server.server, request as never, response as never);
      return;
    }
    const outside = outsideUrl(url, headers, 'encrypted' in request.socket);
    request.whenWhole((body) => {
      receiver.receive(name, { method: 'POST', url: outside, headers, body }, urlToken).then(
        (answer) => send(response, answer, isClosing),
        () => response.destroy(),
      );
    });
  }

  server.server.off('request', framework);
  server.server.on('request', onRequest);
}

/** As Node has read them. What it makes of a header that is there twice is not what verifies: the framework's route knows. */
function headersEachOnce({ headers, rawHeaders }: IncomingMessage): Readonly<Record<string, string>> | undefined {
  const isEachOnce = 2 * Object.keys(headers).length === rawHeaders.length && headers['set-cookie'] === undefined;
  return isEachOnce ? (headers as Record<string, string>) : undefined;
}

/** Its length is known and within the limit: nothing is read that would be refused for its size. */
function isPlain(headers: Readonly<Record<string, string>>, maxBodyBytes: number): boolean {
  const length = headers['content-length'];
  return length !== undefined && LENGTH.test(length) && Number(length) <= maxBodyBytes;
}

function send(response: ServerResponse, { status, headers, body }: Answer, isClosing: boolean): void {
  try {
    const all = ['content-length', String(Buffer.byteLength(body))];
    for (const name of Object.keys(headers)) all.push(name, headers[name] ?? '');
    if (isClosing) all.push('connection', 'close');
    response.writeHead(status, all).end(body);
  } catch {
    response.destroy();
  }
}
