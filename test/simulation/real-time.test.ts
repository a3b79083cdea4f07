/**
 * Bad neighbours in real time, on every store (test/store-matrix.ts): with a queue, and with commits and statements that
 * cost what they cost. A busy machine makes all of it slower, so nothing is held against a clock: endpoints that take
 * seconds have hundreds of deliveries queued, and all that came later for healthy ones must arrive while most of those
 * still wait. The finer claims are made in virtual time, in fairness.test.ts. POSTHORN_TEST_FLOOD makes it longer.
 */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createEngine } from '../../src/engine/index.ts';
import { createIds } from '../../src/ids.ts';
import { presets } from '../../src/policy/index.ts';
import { createSecretBox } from '../../src/signing/index.ts';
import { openTestDispatch, openTestStore } from '../../src/testing/test-store.ts';
import { Audit } from './audit.ts';
import { LANES_PER_CHANNEL, populate, type SimulatedLane, settle } from './population.ts';
import { PAYLOAD } from './rig.ts';
import { SeededRandom } from './seeded-random.ts';
import { Trace } from './trace.ts';
import { createVirtualNetwork } from './virtual-network.ts';

const FLOOD_EACH = Number(process.env.POSTHORN_TEST_FLOOD ?? 200);
const FLOODERS = 3;
const MESSAGES = FLOOD_EACH / 10;
const LIMITS = { maxInFlight: 64, laneCeiling: 8 };
const TIMEOUT_MS = 60_000 + 100 * FLOOD_EACH;
const clock = systemClock;

describe('bad neighbours in real time', () => {
  it('ALL-03 endpoints that work do not wait for what others have queued, and nothing is lost', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const random = new SeededRandom('real time');
    const population = { lanes: 60, deadShare: 0.1, slowShare: 0.1, flooders: FLOODERS };
    const lanes = populate(population, random.fork('population'));
    const steady = lanes.filter(({ kind }) => kind !== 'flooder');
    expect(new Set(steady.map(({ kind }) => kind))).toEqual(new Set(['healthy', 'slow', 'dead']));
    const audit = new Audit({ ...LIMITS, clock, trace: new Trace(), lanes });
    const store = await openTestStore();
    await settle(store, lanes);
    const network = createVirtualNetwork({
      clock,
      random: random.fork('network'),
      kindOf: (url) => (audit.kindOf(url) === 'flooder' ? 'slow' : audit.kindOf(url)),
      wire: audit,
    });
    const engine = createEngine({
      store,
      clock,
      ids: createIds(() => clock.now()),
      sender: network,
      secretBox: createSecretBox(undefined),
      defaultPolicy: presets['public-api'].policy,
      preset: () => undefined,
      nodeName: 'real time',
      dispatch: openTestDispatch(clock),
      maxInFlight: LIMITS.maxInFlight,
      maxInFlightPerEndpoint: LIMITS.laneCeiling,
    });
    engine.on((event) => audit.on(event));
    await engine.start();

    async function publish(to: readonly SimulatedLane[]): Promise<void> {
      const [{ applicationId: application, channel } = { applicationId: '', channel: '' }] = to;
      const at = clock.now();
      const message = { application, eventType: 'simulated', payload: PAYLOAD, channels: [channel] };
      const published = await engine.publish(message);
      if (published.kind === 'accepted') audit.accepted(published.message.id, at, to);
    }

    const flooders = lanes.filter(({ kind }) => kind === 'flooder');
    await Promise.all(flooders.flatMap((lane) => Array.from({ length: FLOOD_EACH }, () => publish([lane]))));
    let healthy = 0;
    for (let n = 0; n < MESSAGES; n++) {
      const first = (n * LANES_PER_CHANNEL) % steady.length;
      const to = steady.slice(first, first + LANES_PER_CHANNEL);
      healthy += to.filter(({ kind }) => kind === 'healthy').length;
      await publish(to);
    }
    const { latenciesMs } = audit;
    await expect.poll(() => latenciesMs.healthy.length, { timeout: TIMEOUT_MS - 10_000 }).toBe(healthy);
    const flooded = latenciesMs.flooder.length;
    await engine.stop(0);
    const { pending, leased, held, dead } = await store.counts({ most: 100_000 });
    await store.close();
    expect(flooded).toBeLessThan((FLOODERS * FLOOD_EACH) / 2);
    expect(pending + leased + held + dead).toBe(audit.open + audit.hopeless);
    expect(audit.violations).toEqual([]);
  });
});
