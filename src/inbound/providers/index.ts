/**
 * Who sent this webhook, and what is it called? One small file per provider: which settings a source needs, how its
 * signature is checked over the raw bytes, where its event id and type are, what it wants to hear, and a sample.
 *
 * Refuses: I/O of its own (certificates and confirmations come through ports, after their host was checked), clocks and
 * randomness (both are arguments), bodies that were parsed before.
 * Promises: whatever a stranger sends gets a verdict, never an exception; secrets are compared in constant time and are in
 * no reason, error or answer; a source without a secret cannot be made, except with `none`, which says what it is.
 */
export { eventTypeName, type InboundEvent } from './inbound-event.ts';
export { takeJson, textOf } from './parsed-bodies.ts';
export type {
  Answer,
  InboundRequest,
  PreparedProvider,
  Provider,
  ProviderSettings,
  SampleOptions,
  SettingSpec,
  SettingSpecs,
  Verdict,
  VerifyPorts,
} from './provider.ts';
export {
  findProvider,
  LONGEST_DEDUPE_MS,
  type MainSecret,
  type NeededSetting,
  PROVIDERS,
  type ProviderName,
  type SettingOf,
} from './registry.ts';
export { isOneOf, textDigest } from './same-text.ts';
export { MOST_VALUES } from './settings.ts';
