/**
 * Steady traffic, alone or with bad neighbours on the same node: dead endpoints, slow ones, and a few with tens of
 * thousands of deliveries queued. What the healthy ones see of it is the answer.
 */
import type { Kind } from './population.ts';
import { LANES_PER_CHANNEL } from './population.ts';
import { createRig, PAYLOAD, type Rig, type RigOptions } from './rig.ts';
import { SLOWEST_HEALTHY_MS } from './virtual-network.ts';

export interface NeighboursOptions extends Pick<RigOptions, 'seed' | 'lanes' | 'plant' | 'toldLimits'> {
  readonly maxInFlight: number;
  readonly laneCeiling: number;
  readonly deliveriesPerSecond: number;
  readonly seconds: number;
  readonly bad: boolean;
  readonly flooders: number;
  readonly floodEach: number;
  readonly onProgress?: (line: string) => void;
}

export interface NeighboursResult {
  readonly latenciesMs: Readonly<Record<Kind, readonly number[]>>;
  /** What no healthy delivery may exceed: the slowest answer, and the commits on its way. */
  readonly boundMs: number;
  readonly mostInFlight: number;
  readonly violations: readonly string[];
  readonly events: number;
  readonly hash: string;
}

const DEAD_SHARE = 0.01;
const SLOW_SHARE = 0.05;
const MOST_DRAIN_MS = 600_000;
/**
 * A delivery waits for the commit under way and then its own, five times at most: two reads when its application is not
 * in memory, accept, claim (when its lane was busy) and record. Nothing else stands between accept and delivered but the
 * answer itself.
 */
const COMMITS = 10;

export async function runNeighbours(options: NeighboursOptions): Promise<NeighboursResult> {
  const { bad } = options;
  const rig = await createRig({
    ...options,
    deadShare: bad ? DEAD_SHARE : 0,
    slowShare: bad ? SLOW_SHARE : 0,
    flooders: bad ? options.flooders : 0,
  });
  for (const lane of rig.lanes) if (lane.kind === 'flooder') await rig.preload(lane, options.floodEach);
  await rig.start();
  await publishSteadily(rig, options);
  await rig.runUntil(() => rig.audit.open === 0, MOST_DRAIN_MS);
  await rig.finish();
  return {
    latenciesMs: rig.audit.latenciesMs,
    boundMs: SLOWEST_HEALTHY_MS + COMMITS * rig.longestCommitMs(),
    mostInFlight: rig.audit.mostInFlight,
    violations: rig.audit.violations,
    ...rig.trace.digest(),
  };
}

async function publishSteadily(rig: Rig, options: NeighboursOptions): Promise<void> {
  const { clock, engine, audit } = rig;
  const random = rig.random.fork('traffic');
  const steady = rig.lanes.filter(({ kind }) => kind !== 'flooder');
  const channels = Math.floor(steady.length / LANES_PER_CHANNEL);
  const meanGapMs = (1000 * LANES_PER_CHANNEL) / options.deliveriesPerSecond;
  const startedAt = clock.now();
  const endsAt = startedAt + 1000 * options.seconds;
  let underWay = 0;

  function publish(): void {
    const at = clock.now();
    if (at >= endsAt) return;
    const first = random.between(0, channels - 1) * LANES_PER_CHANNEL;
    const lanes = steady.slice(first, first + LANES_PER_CHANNEL);
    const [{ applicationId, channel } = { applicationId: '', channel: '' }] = lanes;
    underWay += 1;
    void engine
      .publish({ application: applicationId, eventType: 'simulated', payload: PAYLOAD, channels: [channel] })
      .then((published) => {
        if (published.kind === 'accepted') audit.accepted(published.message.id, at, lanes);
        underWay -= 1;
      });
    clock.after(random.gapMs(meanGapMs), publish);
  }

  publish();
  for (let second = 1; second <= options.seconds; second++) {
    await clock.advance(1000);
    options.onProgress?.(`${second} of ${options.seconds} s, ${audit.open} open`);
  }
  await rig.runUntil(() => underWay === 0, MOST_DRAIN_MS);
}
