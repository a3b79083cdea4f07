/** What went wrong before a connection stood, in the words of the model. */
import { describeError } from '../errors.ts';
import { Failure } from './failure.ts';

const TLS_HINTS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed; use one from a public authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'the chain ends in a root that is not trusted; use a certificate from a public authority',
  UNABLE_TO_GET_ISSUER_CERT: 'the issuer of the certificate is missing; send the full chain',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the issuer of the certificate is not trusted or missing; send the full chain',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate cannot be verified; send the full chain',
  CERT_HAS_EXPIRED: 'the certificate has expired; renew it',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet; check its dates and the clocks',
  CERT_REVOKED: 'the certificate has been revoked',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the port does not speak TLS; is this an http:// address?',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the port does not speak TLS; is this an http:// address?',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'the server has no TLS version in common with this one (1.2 or later)',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'the server has no TLS version in common with this one (1.2 or later)',
  EPROTO: 'the port does not speak TLS; is this an http:// address?',
};

export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

export function tcpFailure(error: unknown, peer: string): Failure {
  switch (codeOf(error)) {
    case 'ECONNREFUSED':
      return new Failure('connection_refused', `connection refused by ${peer}`);
    case 'ECONNRESET':
    case 'EPIPE':
      return new Failure('connection_reset', `connection reset by ${peer} while connecting`);
    case 'ETIMEDOUT':
      return new Failure('connect_timeout', `no connection to ${peer}: the network gave up waiting`);
    default:
      return new Failure('network', `no connection to ${peer}: ${describeError(error)}`);
  }
}

export function tlsFailure(error: unknown, hostname: string, peer: string): Failure {
  const code = codeOf(error);
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return new Failure('connection_reset', closedInHandshake(peer));
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return new Failure('tls', `TLS with ${hostname} failed: the certificate is for another host (${code})`);
  }
  const hint = TLS_HINTS[code] ?? describeError(error);
  return new Failure('tls', `TLS with ${hostname} failed: ${hint}${code === '' ? '' : ` (${code})`}`);
}

export function closedInHandshake(peer: string): string {
  return `${peer} closed the connection during the TLS handshake`;
}

export function dnsFailure(error: unknown, hostname: string): Failure {
  const code = codeOf(error);
  const what = code === 'ENOTFOUND' ? 'there is no such name' : describeError(error);
  return new Failure('dns', `${hostname} cannot be resolved: ${what}`);
}
