/** What follows an outcome. Made in one place: policy/decide.ts. */
export type Decision =
  | { readonly kind: 'delivered'; readonly reason: string }
  | {
      readonly kind: 'retry';
      readonly delayMs: number;
      /** Whether the wait comes from the schedule, the endpoint's Retry-After, or an interrupted attempt (at once). */
      readonly source: 'schedule' | 'retry-after' | 'interrupted';
      readonly reason: string;
    }
  | {
      readonly kind: 'dead';
      readonly cause: DeadCause;
      readonly reason: string;
      /** What this does to the endpoint, if anything. */
      readonly endpoint?: 'fail' | 'fail-when-silent' | 'disable';
    };

/** exhausted: no attempts left. rejected: this will never work. */
export type DeadCause = 'exhausted' | 'rejected';
