/**
 * The short ways in, past the framework's router, hooks and parsers, which cost a third of a bare verifying route (127 µs with
 * them, 88 without, November 2026). A plain POST to a source is read and answered on its socket; one that is not as plain, but
 * whose length is known, on Node's own request and response. Whatever else there is goes to the framework's route for the same
 * path, which knows every case.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../clock.ts';
import type { Answer } from '../providers/index.ts';
import type { Receiver } from '../receive.ts';
import { NO_CONTENT, PlainConnection, type PlainConnectionOptions } from './plain-connection.ts';
import { outsideUrl } from './read-request.ts';
import { ROUTED_METHODS } from './receivers.ts';
import { WholeRequest } from './whole-request.ts';

/** Letters that mean themselves in a path. A query, an escape or an empty part is the framework's. */
const PLAIN = /^[\w.~-]{1,256}$/;
const LENGTH = /^\d{1,9}$/;

export interface DirectOptions {
  readonly clock: Clock;
  /** There is a receivingRoute at `${prefix}:source/:token?`. */
  readonly prefix: string;
}

/** On a server whose requests are WholeRequests, before it listens. */
export function receiveDirectly(server: FastifyInstance, receiver: Receiver, { clock, prefix }: DirectOptions): void {
  const [framework] = server.server.listeners('request') as RequestListener[];
  const [http] = server.server.listeners('connection') as ((socket: Socket) => void)[];
  if (framework === undefined || http === undefined) return;
  const connections = new Set<PlainConnection>();
  let isClosing = false;
  server.addHook('preClose', (done) => {
    isClosing = true;
    for (const connection of connections) connection.closeIdle();
    done();
  });

  const plain: PlainConnectionOptions = {
    maxBodyBytes: receiver.maxBodyBytes,
    get keepAliveMs() {
      return server.server.keepAliveTimeout;
    },
    answer({ url, headers, body }, isEncrypted) {
      const place = placeOf(url, prefix);
      return place && receive(place, outsideUrl(url, headers, isEncrypted), headers, body);
    },
    isClosing: () => isClosing,
    date: secondsDate(clock),
    handOver: (socket) => http.call(server.server, socket),
    onGone: (connection) => connections.delete(connection),
  };

  function onConnection(socket: Socket): void {
    if (isClosing) plain.handOver(socket);
    else connections.add(new PlainConnection(socket, plain));
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '' } = request;
    const place = isClosing ? undefined : placeOf(url, prefix);
    if (place && !ROUTED_METHODS.has(method)) {
      // The framework has no route for it, and would refuse it without a word to the log.
      const unread = { method, url, headers: {}, body: new Uint8Array() };
      answerWith(response, receiver.receive(place.source, unread, place.urlToken));
      return;
    }
    const headers = place && method === 'POST' ? headersEachOnce(request) : undefined;
    if (!place || !headers || !isPlain(headers, receiver.maxBodyBytes) || !(request instanceof WholeRequest)) {
      framework?.call(server.server, request as never, response as never);
      return;
    }
    const outside = outsideUrl(url, headers, 'encrypted' in request.socket);
    request.once('aborted', () => {
      if (!request.complete) receiver.refuse('bad_request', place.source, 'cut off');
    });
    request.whenWhole((body) => answerWith(response, receive(place, outside, headers, body)));
  }

  function answerWith(response: ServerResponse, answering: Promise<Answer>): void {
    answering.then(
      (answer) => send(response, answer, isClosing),
      () => response.destroy(),
    );
  }

  function receive(place: Place, url: string, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    return receiver.receive(place.source, { method: 'POST', url, headers, body }, place.urlToken);
  }

  const closeOthers = server.server.closeAllConnections.bind(server.server);
  server.server.closeAllConnections = () => {
    for (const connection of connections) connection.close();
    closeOthers();
  };
  server.server.off('connection', http);
  server.server.on('connection', onConnection);
  server.server.off('request', framework);
  server.server.on('request', onRequest);
}

interface Place {
  readonly source: string;
  /** What follows it, empty for nothing. */
  readonly urlToken: string;
}

function placeOf(url: string, prefix: string): Place | undefined {
  if (!url.startsWith(prefix)) return undefined;
  const slash = url.indexOf('/', prefix.length);
  const source = url.slice(prefix.length, slash < 0 ? undefined : slash);
  const urlToken = slash < 0 ? '' : url.slice(slash + 1);
  return PLAIN.test(source) && (slash < 0 || PLAIN.test(urlToken)) ? { source, urlToken } : undefined;
}

/** As a header has it, written once a second. */
function secondsDate(clock: Clock): () => string {
  let second = Number.NaN;
  let text = '';
  return () => {
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) {
      second = now;
      text = new Date(now * 1000).toUTCString();
    }
    return text;
  };
}

/** As Node has read them. What it makes of a header that is there twice is not what verifies: the framework's route knows. */
function headersEachOnce({ headers, rawHeaders }: IncomingMessage): Readonly<Record<string, string>> | undefined {
  const isEachOnce = 2 * Object.keys(headers).length === rawHeaders.length && headers['set-cookie'] === undefined;
  return isEachOnce ? (headers as Record<string, string>) : undefined;
}

/** Its length is known and within the limit: nothing is read that would be refused for its size. */
function isPlain(headers: Readonly<Record<string, string>>, maxBodyBytes: number): boolean {
  const { 'content-length': length, host } = headers;
  return length !== undefined && host !== undefined && LENGTH.test(length) && Number(length) <= maxBodyBytes;
}

function send(response: ServerResponse, { status, headers, body }: Answer, isClosing: boolean): void {
  try {
    const all = status === NO_CONTENT ? [] : ['content-length', String(Buffer.byteLength(body))];
    for (const name of Object.keys(headers)) all.push(name, headers[name] ?? '');
    if (isClosing) all.push('connection', 'close');
    response.writeHead(status, all).end(body);
  } catch {
    response.destroy();
  }
}
