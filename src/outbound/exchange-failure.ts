/** What undici reports after a connection stood, in the words of the model. */
import { errors } from 'undici';
import { describeError } from '../errors.ts';
import { codeOf } from './connect-failure.ts';
import { Failure } from './failure.ts';

const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';

/** `headersDone`: whether the answer's headers were complete; a close after that cut the body. */
export function exchangeFailure(error: unknown, headersDone: boolean): Failure {
  if (error instanceof Failure) return error;
  const code = codeOf(error);
  const message = describeError(error);
  const cut = headersDone ? 'before the response body was complete' : 'before it answered';

  if (code === 'UND_ERR_SOCKET') {
    // undici ends the connection on an unasked "100 Continue" and on an upgrade that nobody asked for.
    if (message === 'bad response') return malformed('it answered "100 Continue" without being asked');
    if (message === 'bad upgrade') return malformed('it answered with a protocol upgrade');
    // Also a keep-alive connection that the server closes just as the request goes out. It is not retried here: from
    // this side nobody can tell whether the request was read, and one attempt is one request. The schedule retries it.
    return new Failure('connection_reset', `the connection was closed ${cut}`);
  }
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'ECONNABORTED') {
    return new Failure('connection_reset', `the connection was reset ${cut}`);
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return malformed('its headers are larger than 16 KiB');
  // undici reports this for any parser error once it has seen a Content-Length. Within a body it means too few bytes.
  if (code === LENGTH_MISMATCH && !headersDone) return malformed('its headers cannot be parsed');
  if (code === LENGTH_MISMATCH) return new Failure('connection_reset', `the connection was closed ${cut}`);
  if (error instanceof errors.HTTPParserError) {
    const detail = /\((.+)\)/.exec(message)?.[1] ?? message;
    // A chunked body without its end: the connection was cut, the syntax is fine.
    if (detail === 'Invalid EOF state') return new Failure('connection_reset', `the connection was closed ${cut}`);
    return malformed(detail);
  }
  if (code === 'ERR_ASSERTION') return malformed('it breaks the order of an HTTP response');
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') {
    return new Failure('tls', `TLS failed ${cut}: ${message} (${code})`);
  }
  if (code === 'ETIMEDOUT' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH' || code === 'ENETDOWN') {
    return new Failure('network', `the network failed ${cut}: ${message}`);
  }
  return new Failure('unexpected', message);
}

export function malformed(detail: string): Failure {
  return new Failure('malformed_response', `not a valid HTTP response: ${detail}`);
}
