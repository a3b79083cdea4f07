import { PosthornError } from '../errors.ts';

const NOT_OURS = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'];

/** Why a server could not listen, and which setting changes it. What is not known here is given back as it is. */
export function listenFailure(cause: unknown, host: string, port: number): unknown {
  const { code = '' } = cause as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    const advice = 'Stop what listens there, or set POSTHORN_PORT to another port (0 picks a free one).';
    return new PosthornError('conflict', `Port ${port} on ${host} is in use. ${advice}`, { cause });
  }
  if (code === 'EACCES') {
    const advice = 'Set POSTHORN_PORT above 1023.';
    return new PosthornError('config_invalid', `Port ${port} is not allowed to this user. ${advice}`, { cause });
  }
  if (NOT_OURS.includes(code)) {
    const advice = 'Set it to 127.0.0.1 for this machine alone, to 0.0.0.0 for every interface, or to one address.';
    const message = `POSTHORN_HOST=${JSON.stringify(host)} is no address of this machine (${code}). ${advice}`;
    return new PosthornError('config_invalid', message, { cause });
  }
  return cause;
}
