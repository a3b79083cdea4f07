/** What is refused before there is a request that a route could answer: in JSON, and with a line in the log. */
import { type IncomingMessage, maxHeaderSize, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerError } from './errors.ts';

type Refusal = readonly [status: string, code: string, detail: string];

const MALFORMED: Refusal = ['400 Bad Request', 'bad_request', 'This is not a valid HTTP/1.1 request'];
const NO_HOST: Refusal = ['400 Bad Request', 'bad_request', 'The request names no host: send the header "host"'];
const NO_PROXY: Refusal = ['405 Method Not Allowed', 'method_not_allowed', 'This server is no proxy'];
const UNEXPECTED: Refusal = [
  '417 Expectation Failed',
  'expectation_failed',
  'The only expectation that is met here is "expect: 100-continue"',
];
/** What Node's parser gives up on. */
const UNREADABLE: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'headers_too_large',
    `The headers are larger than the ${maxHeaderSize} bytes that this server takes`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    'request_timeout',
    'The request did not arrive in time; send it again',
  ],
};

/** On a server that was made with `requireHostHeader: false`: Node would answer for itself, and tell nobody. */
export function refuseEarly(server: FastifyInstance): void {
  server.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    note(server.log, UNEXPECTED, `it expects ${JSON.stringify(request.headers.expect)}`);
    const body = bodyOf(UNEXPECTED);
    const headers = [
      'content-type',
      JSON_TYPE,
      'content-length',
      String(Buffer.byteLength(body)),
      'connection',
      'close',
    ];
    response.writeHead(417, headers).end(body);
  });
  server.server.on('connect', (_: IncomingMessage, socket: Socket) => {
    note(server.log, NO_PROXY, 'CONNECT');
    endWith(socket, NO_PROXY);
  });
  server.addHook('onRequest', (request, reply, done) => {
    if (request.headers.host !== undefined || request.raw.httpVersion !== '1.1') return done();
    note(server.log, NO_HOST, 'no host');
    void reply.code(400).header('connection', 'close').type(JSON_TYPE).send(bodyOf(NO_HOST));
  });
}

/** Where Node would close the connection or answer in HTML. */
export function answerClientError(this: FastifyInstance, error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = UNREADABLE[error.code ?? ''] ?? MALFORMED;
  note(this.log, refusal, error.message);
  endWith(socket, refusal);
}

/** A path that cannot be decoded, or is too long. It may hold a token, and is not in the log. */
export function answerFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  request.log.warn({ code: error.code }, REFUSED);
  answerError(error, request, reply);
}

const REFUSED = 'request refused before it could be read';
const JSON_TYPE = 'application/json; charset=utf-8';

function note(log: FastifyBaseLogger, [, code]: Refusal, reason: string): void {
  log.warn({ code, reason }, REFUSED);
}

/** And nothing more is read: whoever leaves its side open, or goes on sending, does not keep the connection. */
function endWith(socket: Socket, refusal: Refusal): void {
  const body = bodyOf(refusal);
  const head = [`content-type: ${JSON_TYPE}`, `content-length: ${Buffer.byteLength(body)}`, 'connection: close'];
  socket.end([`HTTP/1.1 ${refusal[0]}`, ...head, '', body].join('\r\n'));
  socket.destroySoon();
}

function bodyOf([, code, detail]: Refusal): string {
  return JSON.stringify({ code, detail });
}
