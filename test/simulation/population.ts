/** Who is sent to: applications with a hundred endpoints each, and what becomes of a request to each endpoint. */
import type { Application, Endpoint } from '../../src/model/index.ts';
import type { Store } from '../../src/store/index.ts';
import { TEST_SECRET } from '../../src/testing/engine-rig.ts';
import type { SeededRandom } from './seeded-random.ts';

/** healthy and flooder: 20–80 ms. slow: 2 s. dead: never answers. */
export type Kind = 'healthy' | 'slow' | 'dead' | 'flooder';

export interface SimulatedLane {
  readonly id: string;
  readonly applicationId: string;
  readonly channel: string;
  readonly kind: Kind;
  readonly url: string;
  readonly maxInFlight?: number;
  readonly rateLimit?: number;
}

export interface PopulationOptions {
  readonly lanes: number;
  readonly deadShare: number;
  readonly slowShare: number;
  readonly flooders: number;
}

const LANES_PER_APPLICATION = 100;
/** Endpoints that share a channel get the same messages. */
export const LANES_PER_CHANNEL = 10;
/** Some endpoints ask for less than the server's default: their wish is a limit that must hold as well. */
const LIMITED_SHARE = 0.02;
const OWN_MAX_IN_FLIGHT = 2;
const OWN_RATE_LIMIT = 20;

/** Of each lane: the same number of draws, so that its neighbours' kinds do not change who has limits of its own. */
export function populate(options: PopulationOptions, random: SeededRandom): SimulatedLane[] {
  const lanes = Array.from({ length: options.lanes }, (_, index): SimulatedLane => {
    const ill = random.draw();
    const limited = random.draw();
    const kind = ill < options.deadShare ? 'dead' : ill < options.deadShare + options.slowShare ? 'slow' : 'healthy';
    return {
      ...named(Math.floor(index / LANES_PER_APPLICATION), index),
      kind,
      ...(limited < LIMITED_SHARE ? { maxInFlight: OWN_MAX_IN_FLIGHT } : {}),
      ...(limited > 1 - LIMITED_SHARE ? { rateLimit: OWN_RATE_LIMIT } : {}),
    };
  });
  const applications = Math.ceil(options.lanes / LANES_PER_APPLICATION);
  for (let index = 0; index < options.flooders; index++) {
    lanes.push({ ...named(applications + index, options.lanes + index), kind: 'flooder' });
  }
  return lanes;
}

export async function settle(store: Store, lanes: readonly SimulatedLane[]): Promise<void> {
  const known = new Set<string>();
  for (const lane of lanes) {
    if (!known.has(lane.applicationId)) {
      known.add(lane.applicationId);
      await store.insert({ kind: 'application', record: applicationOf(lane) });
    }
    await store.insert({ kind: 'endpoint', record: endpointOf(lane) });
  }
}

function named(application: number, index: number) {
  const number = String(index).padStart(7, '0');
  return {
    id: `ep_${number}`,
    applicationId: `app_${String(application).padStart(7, '0')}`,
    channel: `channel-${Math.floor(index / LANES_PER_CHANNEL)}`,
    url: `https://simulated.invalid/${number}`,
  };
}

function applicationOf({ applicationId }: SimulatedLane): Application {
  return { id: applicationId, name: applicationId, metadata: {}, createdAt: 0, updatedAt: 0 };
}

function endpointOf(lane: SimulatedLane): Endpoint {
  return {
    id: lane.id,
    applicationId: lane.applicationId,
    url: lane.url,
    description: '',
    version: 1,
    metadata: {},
    headers: {},
    channels: [lane.channel],
    secrets: [{ key: TEST_SECRET, createdAt: 0 }],
    createdAt: 0,
    updatedAt: 0,
    ...(lane.maxInFlight === undefined ? {} : { maxInFlight: lane.maxInFlight }),
    ...(lane.rateLimit === undefined ? {} : { rateLimit: lane.rateLimit }),
  };
}
