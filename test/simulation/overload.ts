/**
 * More work than slots: every lane has due deliveries, some of them very many. What a lane waits for its first one must
 * depend on how many lanes have due work, not on how much the others have.
 */
import { type Percentiles, percentiles } from './percentiles.ts';
import { createRig, type RigOptions } from './rig.ts';

export interface OverloadOptions extends Pick<RigOptions, 'seed' | 'lanes' | 'flooders' | 'plant'> {
  readonly maxInFlight: number;
  readonly laneCeiling: number;
  readonly floodEach: number;
}

export interface OverloadResult {
  /** The wait of the lanes that have one delivery each. */
  readonly waitMs: Percentiles;
  readonly violations: readonly string[];
}

const MOST_DRAIN_MS = 3_600_000;

export async function runOverload(options: OverloadOptions): Promise<OverloadResult> {
  const rig = await createRig({ ...options, deadShare: 0, slowShare: 0 });
  for (const lane of rig.lanes) if (lane.kind === 'flooder') await rig.preload(lane, options.floodEach);
  // The others come last: a queue in the order of due times would let them wait for all that the flooders have.
  await rig.clock.advance(1);
  for (const lane of rig.lanes) if (lane.kind === 'healthy') await rig.preload(lane, 1);
  await rig.start();
  await rig.runUntil(() => rig.audit.open === 0, MOST_DRAIN_MS);
  await rig.finish();
  return { waitMs: percentiles(rig.audit.latenciesMs.healthy), violations: rig.audit.violations };
}
