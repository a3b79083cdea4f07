import type { EndpointHealth } from '../model/index.ts';
import type { SetStatusInput } from './recording.ts';

/** An endpoint's health once a person has set its status: active again, it begins anew. */
export function withStatus(before: EndpointHealth, { status, reason }: SetStatusInput): EndpointHealth {
  return status === 'active' ? { ...before, status, reason: '', failureCount: 0 } : { ...before, status, reason };
}
