/** How records look on the wire. */
import type { Listing } from '../resources/index.ts';

/** RFC 3339 in UTC. */
export function time(ms: number): string {
  return new Date(ms).toISOString();
}

export function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : time(ms);
}

export function listOut<T, U>(page: Listing<T>, toOut: (item: T) => U): Listing<U> & { data: U[] } {
  return { ...page, data: page.data.map(toOut) };
}
