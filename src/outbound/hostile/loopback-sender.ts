/** A sender that may reach loopback and nothing else that is private. Only tests import this. */
import { systemClock } from '../../clock.ts';
import { createAddressGuard, createSender, type Sender, type SenderOptions, type SendRequest } from '../index.ts';

export function loopbackSender(options: Partial<SenderOptions> = {}): Sender {
  return createSender({
    clock: systemClock,
    guard: createAddressGuard({ allow: ['127.0.0.0/8', '::1/128'] }),
    userAgent: 'Posthorn/test',
    ...options,
  });
}

export function post(url: string | URL, request: Partial<SendRequest> = {}): SendRequest {
  return {
    url,
    headers: ['content-type', 'application/json'],
    body: Buffer.from('{"hello":"world"}'),
    connectTimeoutMs: 2_000,
    totalTimeoutMs: 2_000,
    redirects: 'failure',
    ...request,
  };
}
