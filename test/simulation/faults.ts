/**
 * Nodes on one store, on a bad day: the store refuses, answers late or not at all at any await, nodes stall beyond their
 * lease and go on, their clocks disagree. Then the weather clears, and everything accepted must come to its end.
 */
import { createEngine, type Engine } from '../../src/engine/index.ts';
import { createIds } from '../../src/ids.ts';
import { presets } from '../../src/policy/index.ts';
import { createSecretBox } from '../../src/signing/index.ts';
import type { Store } from '../../src/store/index.ts';
import { awaitedStore } from '../../src/testing/awaited-store.ts';
import { createManualClock, type ManualClock } from '../../src/testing/manual-clock.ts';
import { openTestStore } from '../../src/testing/test-store.ts';
import { createFaultyStore } from './faulty-store.ts';
import { Gate } from './gate.ts';
import { Ledger } from './ledger.ts';
import { populate, type SimulatedLane, settle } from './population.ts';
import { PAYLOAD } from './rig.ts';
import { SeededRandom } from './seeded-random.ts';
import { Trace } from './trace.ts';
import { createVirtualNetwork } from './virtual-network.ts';

export interface FaultsResult {
  readonly violations: readonly string[];
  readonly accepted: number;
  readonly troubles: number;
  readonly hash: string;
}

interface Node {
  readonly engine: Engine;
  readonly gate: Gate;
}

const NODES = 3;
const LANES = 20;
const MESSAGES = 30;
const STORM_MS = 40_000;
const MOST_CALM_MS = 600_000;
const STEP_MS = 500;
const MAX_SKEW_MS = 2000;
const FAULT_SHARE = 0.05;
const STALLS_PER_NODE = 2;
const LONGEST_STALL_MS = 20_000;

export async function runFaults(
  seed: number,
  plant: (store: Store) => Store = (store) => store,
): Promise<FaultsResult> {
  const random = new SeededRandom(`faults ${seed}`);
  const clock = createManualClock();
  const trace = new Trace();
  const lanes = populate({ lanes: LANES, deadShare: 0, slowShare: 0.1, flooders: 0 }, random.fork('population'));
  const ledger = new Ledger(lanes);
  const inner = awaitedStore(await openTestStore(), clock);
  await settle(inner, lanes);
  let isStormy = false;
  let troubles = 0;
  const watched = ledger.watch(plant(inner));
  const nodes = Array.from({ length: NODES }, (_, index): Node => {
    const own = random.fork(`node ${index}`);
    const gate = new Gate();
    const skewed = gate.clock(clock, own.between(-MAX_SKEW_MS, MAX_SKEW_MS));
    const engine = createEngine({
      store: createFaultyStore(watched, {
        clock,
        gate,
        random: own.fork('store'),
        faultShare: () => (isStormy ? FAULT_SHARE : 0),
      }),
      clock: skewed,
      ids: createIds(() => skewed.now(), own.fork('ids').fill),
      sender: createVirtualNetwork({
        clock: skewed,
        random: own.fork('network'),
        kindOf: (url) => lanes.find((lane) => lane.url === url)?.kind ?? 'healthy',
        wire: ledger,
        errorShare: 0.1,
      }),
      secretBox: createSecretBox(undefined),
      defaultPolicy: presets.quick.policy,
      preset: () => undefined,
      nodeName: `node ${index}`,
    });
    engine.on((event) => {
      trace.add(clock.now(), index, event.kind, event.kind === 'attempt' ? event.attempt.id : '');
      if (event.kind === 'trouble') troubles += 1;
    });
    return { engine, gate };
  });
  const starting = Promise.all(nodes.map(({ engine }) => engine.start()));
  await clock.advance(STEP_MS);
  await starting;

  isStormy = true;
  const accepted = publishMessages(clock, nodes, lanes, random.fork('traffic'));
  scheduleStalls(clock, nodes, random.fork('stalls'));
  await clock.advance(STORM_MS);
  isStormy = false;
  for (const { gate } of nodes) gate.goOn();
  for (let calmMs = 0; calmMs < MOST_CALM_MS && !(await isOver(inner)); calmMs += STEP_MS) await clock.advance(STEP_MS);
  const violations = [...ledger.violations, ...(await checkEnd(inner, accepted))];
  await inner.close();
  return { violations, accepted: accepted.size, troubles, hash: trace.digest().hash };
}

/** The ids of messages whose publish resolved, with their application's. */
function publishMessages(
  clock: ManualClock,
  nodes: readonly Node[],
  lanes: readonly SimulatedLane[],
  random: SeededRandom,
): Map<string, string> {
  const accepted = new Map<string, string>();
  for (let index = 0; index < MESSAGES; index++) {
    const node = nodes[random.between(0, nodes.length - 1)];
    const lane = lanes[random.between(0, lanes.length - 1)];
    clock.after(random.between(0, STORM_MS - 10_000), () => {
      if (node === undefined || lane === undefined || node.gate.isStalled) return;
      const { applicationId: application, channel } = lane;
      node.engine.publish({ application, eventType: 'simulated', payload: PAYLOAD, channels: [channel] }).then(
        (published) => {
          if (published.kind === 'accepted') accepted.set(published.message.id, application);
        },
        () => {},
      );
    });
  }
  return accepted;
}

function scheduleStalls(clock: ManualClock, nodes: readonly Node[], random: SeededRandom): void {
  for (const { gate } of nodes) {
    for (let stall = 0; stall < STALLS_PER_NODE; stall++) {
      clock.after(random.between(0, STORM_MS), () => gate.stall());
      clock.after(random.between(0, STORM_MS) + random.between(0, LONGEST_STALL_MS), () => gate.goOn());
    }
  }
}

async function isOver(store: Store): Promise<boolean> {
  const { pending, leased, held } = await store.counts({ most: 1 });
  return pending + leased + held === 0;
}

async function checkEnd(store: Store, accepted: ReadonlyMap<string, string>): Promise<string[]> {
  const violations: string[] = [];
  for (const [id, applicationId] of accepted) {
    if ((await store.getMessage({ applicationId, id })) === undefined) violations.push(`accepted and lost: ${id}`);
  }
  const { items } = await store.listDeliveries({ limit: 10_000, order: 'ascending' });
  for (const { id, state, attempts } of items) {
    if (state !== 'delivered' && state !== 'dead') violations.push(`never ended: ${id} is ${state}`);
    const made = await store.listAttempts({ deliveryId: id, limit: 1000, order: 'ascending' });
    const numbers = made.items.map(({ number }) => number).sort((a, b) => a - b);
    if (numbers.length !== attempts || numbers.some((number, index) => number !== index + 1)) {
      violations.push(`attempt numbers of ${id}: ${numbers.join(', ')}, and ${attempts} counted`);
    }
  }
  return violations;
}
