/**
 * Where a redirect leads (BUL-04). Method and body are kept on every hop, because a webhook that arrives as an empty GET
 * has not arrived. 303 asks for a GET and is therefore not followed: it stays the answer.
 */
import type { AddressGuard } from './address-guard.ts';
import { Failure } from './failure.ts';
import { type Target, toTarget } from './target.ts';

export const MAX_HOPS = 5;

const FOLLOWED: ReadonlySet<number> = new Set([301, 302, 307, 308]);
const DROPPED_ACROSS_ORIGINS: readonly string[] = ['authorization', 'cookie', 'proxy-authorization'];

export function isFollowed(status: number): boolean {
  return FOLLOWED.has(status);
}

export function redirectTarget(from: Target, location: string | undefined, guard: AddressGuard): Target | Failure {
  if (location === undefined || location === '') {
    return new Failure('invalid_redirect', `${from.origin} answered with a redirect without a Location`);
  }
  const shown = JSON.stringify(location.slice(0, 200));
  if (!URL.canParse(location, from.url.href)) {
    return new Failure('invalid_redirect', `the redirect to ${shown} is refused: it is not a URL`);
  }
  const result = toTarget(new URL(location, from.url), guard);
  if (!result.ok) {
    const kind = result.problem === 'blocked_address' ? 'blocked_address' : 'invalid_redirect';
    return new Failure(kind, `the redirect to ${shown} is refused: ${result.reason}`);
  }
  if (from.secure && !result.target.secure) {
    return new Failure('invalid_redirect', `the redirect to ${shown} is refused: it leads from https to http`);
  }
  return result.target;
}

/** What may cross to another origin: all headers but credentials. `alsoDrop` names more of them, in any case. */
export function headersAcrossOrigins(headers: readonly string[], alsoDrop: readonly string[] = []): string[] {
  const dropped = new Set([...DROPPED_ACROSS_ORIGINS, ...alsoDrop.map((name) => name.toLowerCase())]);
  const kept: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = headers.slice(i, i + 2);
    if (!dropped.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
