import type { Condition, Rule } from '../model/index.ts';

export function retryOn(...when: Condition[]): Rule {
  const then = 'retry';
  return { when, then };
}

export function rejectOn(...when: Condition[]): Rule {
  const then = 'reject';
  return { when, then };
}
