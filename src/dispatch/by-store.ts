import type { Dispatch } from './dispatch.ts';

/** Without a queue: the engine hands over what it accepts and claims what is due. */
export const byStore: Dispatch = {
  carries: false,
  graceMs: 0,
  start: () => Promise.resolve(),
  offer() {},
  stop: () => Promise.resolve(),
};
