import { expect, it } from 'vitest';
import { maxAttempts, presets } from '../policy/index.ts';
import { configuredPreset } from './configured-preset.ts';
import { loadConfig } from './load.ts';

it('BUD-06 the two settings reach the outbox preset and no other', () => {
  const config = loadConfig({
    env: { PAYMENT_REQUEST_WEBHOOK_RETRY_JITTER_BPS: '2500', PAYMENT_REQUEST_WEBHOOK_RETRY_BUDGET: '2' },
  });
  const policy = configuredPreset(config, 'outbox');
  expect(policy?.jitter).toEqual({ kind: 'hash', basisPoints: 2500 });
  expect(policy && maxAttempts(policy)).toBe(3);
  expect(configuredPreset(config, 'quick')).toBe(presets.quick.policy);
});

it('without settings the outbox preset is as it comes, and what is no preset is none', () => {
  expect(configuredPreset(loadConfig({}), 'outbox')).toEqual(presets.outbox.policy);
  expect(configuredPreset(loadConfig({}), 'mine')).toBeUndefined();
});
