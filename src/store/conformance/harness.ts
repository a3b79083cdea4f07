import { afterEach, beforeEach } from 'vitest';
import type { Store } from '../store.ts';
import { Scene } from './scene.ts';

export interface OpenedStore {
  readonly store: Store;
  /** Closes the store and opens what it left behind; absent where nothing outlives it. */
  readonly reopen?: () => Promise<Store>;
  /** The destinations that have a lane in the database, by id; absent where nobody can look beside the store. */
  readonly lanes?: () => Promise<readonly string[]>;
  /** Closes the store that is open and removes what it left. */
  readonly close: () => Promise<void>;
}

export interface StoreCapabilities {
  /** What it stored outlives it: `reopen` is there. */
  readonly durable?: boolean;
  /** One process at a time, proven by a lock: leases of a former process end when the store is opened again. */
  readonly soleProcess?: boolean;
  /** Callers can write to the same database: `transact` is there. */
  readonly transactional?: boolean;
}

export interface StoreHarness {
  /** An empty store of its own for each test. */
  readonly open: () => Promise<OpenedStore>;
  readonly capabilities?: StoreCapabilities;
  /** How many random histories the property test tries; fewer where each one costs a disk. */
  readonly histories?: number;
}

/** The test at hand: a scene on a store of its own. */
export type Use = () => Scene;

/** Opens a store before each test of the current `describe` and closes it afterwards. */
export function useScene(harness: StoreHarness): Use {
  let opened: OpenedStore | undefined;
  let scene: Scene | undefined;
  beforeEach(async () => {
    opened = await harness.open();
    scene = await Scene.begin(opened);
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  return () => {
    if (scene === undefined) throw new Error('use the scene inside a test');
    return scene;
  };
}
