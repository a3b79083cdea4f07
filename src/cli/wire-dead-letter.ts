/** What these commands read of the API's answers. */
import type { GroupOut, ReportOut } from '../api/index.ts';

export type Group = GroupOut;
export type Report = ReportOut;

export interface Page<T> {
  readonly data: readonly T[];
  readonly iterator: string | null;
  readonly done: boolean;
}

/** The answer to a retry or a discard of many. */
export interface Taken {
  readonly count: number;
  readonly skipped: number;
  readonly withoutEndpoint: number;
  readonly notDead: readonly { readonly id: string; readonly reason: string }[];
  readonly iterator: string | null;
  readonly done: boolean;
}
