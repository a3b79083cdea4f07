/** A URL taken apart and judged once, so that sending to it again costs one map lookup. */
import { type AddressGuard, bareHostname } from './address-guard.ts';
import type { OriginPool } from './origin-pool.ts';

export interface Target {
  readonly url: URL;
  readonly origin: string;
  readonly secure: boolean;
  /** A name or an IP literal without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** Path and query as they go on the request line. */
  readonly path: string;
  /** The origin's connections, found on first use; replaced when they have been closed meanwhile. */
  pool: OriginPool | undefined;
}

export type TargetResult =
  | { readonly ok: true; readonly target: Target }
  | { readonly ok: false; readonly problem: 'invalid_url' | 'blocked_address'; readonly reason: string };

export function toTarget(input: string | URL, guard: AddressGuard): TargetResult {
  const verdict = guard.checkUrl(input);
  if (!verdict.ok) return verdict;
  // A copy: the caller may change its URL object later, and this one has passed the guard.
  const url = new URL(verdict.url);
  const secure = url.protocol === 'https:';
  const target: Target = {
    url,
    origin: url.origin,
    secure,
    hostname: bareHostname(url),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    pool: undefined,
  };
  return { ok: true, target };
}
