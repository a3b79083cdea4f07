import { maxHeaderSize } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** What Node's parser gives up on, before there is a request to answer. */
const ANSWERS: Readonly<Record<string, readonly [status: string, code: string, detail: string]>> = {
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
const MALFORMED = ['400 Bad Request', 'bad_request', 'This is not a valid HTTP/1.1 request'] as const;

/** Answers in JSON where Node would close the connection or answer in HTML. */
export function answerClientError(this: FastifyInstance, error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, code, detail] = ANSWERS[error.code ?? ''] ?? MALFORMED;
  this.log.warn({ code, reason: error.message }, 'request refused before it could be read');
  const body = JSON.stringify({ code, detail });
  const head = ['content-type: application/json; charset=utf-8', `content-length: ${Buffer.byteLength(body)}`];
  socket.end([`HTTP/1.1 ${status}`, ...head, 'connection: close', '', body].join('\r\n'));
}
