import type { Policy } from '../model/index.ts';
import { isPresetName, outbox, presets } from '../policy/index.ts';
import type { Config } from './schema.ts';

/** A preset as this configuration has it: `outbox` takes its jitter and its budget from the settings (BUD-06). */
export function configuredPreset(
  config: Pick<Config, 'retryJitterBps' | 'retryBudget'>,
  name: string,
): Policy | undefined {
  if (name === 'outbox') return outbox({ jitterBasisPoints: config.retryJitterBps, retryBudget: config.retryBudget });
  return isPresetName(name) ? presets[name].policy : undefined;
}
