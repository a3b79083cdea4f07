/** Where a command may send to by itself: this machine, unless its user says that another is meant. */
import { isIPv4 } from 'node:net';
import { PosthornError } from '../errors.ts';

export function ownTarget(text: string, option: string, allowRemote: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new PosthornError('validation', `${option} must be a URL such as http://localhost:3000/webhooks`);
  }
  if (allowRemote || isLoopback(url.hostname)) return url;
  throw new PosthornError(
    'validation',
    `${url.host} is not this machine, and nothing was sent. Give --allow-remote if it is yours and you mean it`,
  );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}
