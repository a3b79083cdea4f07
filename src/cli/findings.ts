/** What a check of `posthorn doctor` answers. */
import type { Counts } from '../store/index.ts';

export type Finding =
  | { readonly kind: 'good'; readonly what: string; readonly found: string }
  | { readonly kind: 'notice' | 'bad'; readonly what: string; readonly found: string; readonly advice: string };

export function good(what: string, found: string): Finding {
  return { kind: 'good', what, found };
}

export function notice(what: string, found: string, advice: string): Finding {
  return { kind: 'notice', what, found, advice };
}

export function bad(what: string, found: string, advice: string): Finding {
  return { kind: 'bad', what, found, advice };
}

export function describeCounts({ pending, leased, held, dead }: Counts): string {
  return `${pending + leased} waiting, ${held} held, ${dead} dead letters`;
}
