/**
 * What every store must do, as tests. An adapter runs the whole of it with `exerciseStore`; a difference between adapters
 * is a declared capability with a reason, never a skipped test. It speaks to the port alone: no SQL, no clock but the
 * times that it passes. Each `describe` is named after the port's method; each test name is a promise.
 */
export { exerciseStore } from './exercise-store.ts';
export type { OpenedStore, StoreCapabilities, StoreHarness } from './harness.ts';
export { ILLEGAL_TRANSITION } from './illegal-transition.ts';
