/**
 * The real engine on the real store (POSTHORN_TEST_STORE) in virtual time, with a virtual network around it and an audit
 * over all. Time stands still while a store that is not in this process answers.
 */
import { createEngine, type Engine } from '../../src/engine/index.ts';
import { createIds, type Ids } from '../../src/ids.ts';
import { presets } from '../../src/policy/index.ts';
import { createSecretBox } from '../../src/signing/index.ts';
import type { AcceptItem, Store } from '../../src/store/index.ts';
import { awaitedStore } from '../../src/testing/awaited-store.ts';
import { createManualClock, type ManualClock } from '../../src/testing/manual-clock.ts';
import { openTestStore } from '../../src/testing/test-store.ts';
import { Audit } from './audit.ts';
import { type PopulationOptions, populate, type SimulatedLane, settle } from './population.ts';
import { SeededRandom } from './seeded-random.ts';
import { Trace } from './trace.ts';
import { createVirtualNetwork } from './virtual-network.ts';
import { createVirtualStore } from './virtual-store.ts';

export interface RigOptions extends PopulationOptions {
  readonly seed: number;
  readonly maxInFlight: number;
  readonly laneCeiling: number;
  /** A planted bug: the engine is told other limits than the audit holds it to. */
  readonly toldLimits?: { readonly maxInFlight: number; readonly laneCeiling: number };
  /** A planted bug in the store. */
  readonly plant?: (store: Store) => Store;
}

export interface Rig {
  readonly clock: ManualClock;
  readonly engine: Engine;
  readonly audit: Audit;
  readonly trace: Trace;
  readonly random: SeededRandom;
  readonly lanes: readonly SimulatedLane[];
  longestCommitMs(): number;
  /** Puts deliveries into the store, due, before the engine starts: a backlog from before. */
  preload(lane: SimulatedLane, count: number): Promise<void>;
  /** Starts the engine and everything's time. */
  start(): Promise<void>;
  /** Moves time on until `done`, or for this long; false when it was not done by then. */
  runUntil(done: () => boolean, mostMs: number): Promise<boolean>;
  /** Checks what is left in the store, and ends it. */
  finish(): Promise<void>;
}

const STEP_MS = 100;
const PRELOAD_CHUNK = 1000;
export const PAYLOAD = new TextEncoder().encode('{"simulated":true}');

export async function createRig(options: RigOptions): Promise<Rig> {
  const random = new SeededRandom(`seed ${options.seed}`);
  const clock = createManualClock();
  const ids = createIds(() => clock.now(), random.fork('ids').fill);
  const lanes = populate(options, random.fork('population'));
  const trace = new Trace();
  const audit = new Audit({ ...options, clock, trace, lanes });
  const inner = awaitedStore(await openTestStore(), clock);
  await settle(inner, lanes);
  const virtual = createVirtualStore((options.plant ?? same)(inner), clock);
  const told = options.toldLimits ?? options;
  const engine = createEngine({
    store: virtual.store,
    clock,
    ids,
    sender: createVirtualNetwork({
      clock,
      random: random.fork('network'),
      kindOf: (url) => audit.kindOf(url),
      wire: audit,
    }),
    secretBox: createSecretBox(undefined),
    defaultPolicy: presets['public-api'].policy,
    preset: () => undefined,
    nodeName: 'simulated',
    maxInFlight: told.maxInFlight,
    maxInFlightPerEndpoint: told.laneCeiling,
  });
  engine.on((event) => audit.on(event));

  return {
    clock,
    engine,
    audit,
    trace,
    random,
    lanes,
    longestCommitMs: virtual.longestCommitMs,
    async preload(lane, count) {
      const { fanoutRevision } = (await inner.get({ kind: 'application', idOrName: lane.applicationId })) ?? {};
      for (let left = count; left > 0; left -= PRELOAD_CHUNK) {
        const items = Array.from({ length: Math.min(left, PRELOAD_CHUNK) }, () =>
          backlogItem(lane, fanoutRevision ?? 0, ids, clock.now()),
        );
        // Nobody's epoch: what it wants is stored as pending.
        await inner.accept({ epoch: 0, now: clock.now(), items });
        for (const { message } of items) audit.accepted(message.id, clock.now(), [lane]);
      }
    },
    async start() {
      const started = engine.start();
      await clock.advance(STEP_MS);
      await started;
    },
    async runUntil(done, mostMs) {
      const until = clock.now() + mostMs;
      while (!done()) {
        if (clock.now() >= until) return false;
        await clock.advance(STEP_MS);
      }
      return true;
    },
    async finish() {
      const counts = await inner.counts({ most: Number.MAX_SAFE_INTEGER });
      audit.finish(counts.pending + counts.leased + counts.held + counts.dead);
      await inner.close();
    },
  };
}

function backlogItem(lane: SimulatedLane, fanoutRevision: number, ids: Ids, now: number): AcceptItem {
  const { id: destinationId, applicationId } = lane;
  const message = { id: ids.next('msg'), applicationId, eventType: 'simulated', payload: PAYLOAD, createdAt: now };
  return { message, fanoutRevision, deliveries: [{ id: ids.next('dlv'), destinationId, state: 'pending' }] };
}

function same(store: Store): Store {
  return store;
}
