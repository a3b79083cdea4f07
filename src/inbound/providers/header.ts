import type { InboundRequest } from './provider.ts';

/** Longer ones carry no signature that we know, and nobody should make us work on them. */
const LONGEST_HEADER = 8192;

/** A header's value; undefined when it is missing, empty or longer than any provider's. */
export function header(request: InboundRequest, name: string): string | undefined {
  if (!Object.hasOwn(request.headers, name)) return undefined;
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_HEADER ? value : undefined;
}

export function withHeaders(request: InboundRequest, headers: Readonly<Record<string, string>>): InboundRequest {
  return { ...request, headers: { ...request.headers, ...headers } };
}
