/** Errors of sockets, names and certificates, as Node, undici, axios and Stripe tell them. */
import type { ErrorKind } from '../../model/index.ts';

const CODES: Readonly<Record<string, ErrorKind>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  ERR_STREAM_PREMATURE_CLOSE: 'connection_reset',
  ETIMEDOUT: 'timeout',
  ESOCKETTIMEDOUT: 'timeout',
  ECONNABORTED: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EHOSTUNREACH: 'network',
  ENETUNREACH: 'network',
  ENETDOWN: 'network',
  ERR_NETWORK: 'network',
  UND_ERR_CLOSED: 'network',
  UND_ERR_DESTROYED: 'network',
};
const TLS_CODES = /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(VERIFY|GET_ISSUER))/;

export function networkKind(error: object): ErrorKind | undefined {
  const { code, name, type, message, cause } = error as Readonly<Record<string, unknown>>;
  if (typeof code === 'string') {
    const kind = Object.hasOwn(CODES, code) ? CODES[code] : TLS_CODES.test(code) ? 'tls' : undefined;
    if (kind !== undefined) return kind;
  }
  if (name === 'TimeoutError') return 'timeout';
  if (type === 'StripeConnectionError') return 'network';
  // fetch says no more than this where it has no cause; where it has one, that is asked next.
  return name === 'TypeError' && message === 'fetch failed' && cause === undefined ? 'network' : undefined;
}
