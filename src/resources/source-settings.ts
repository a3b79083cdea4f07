/** A provider's settings: checked before they are stored, sealed at rest, and shown without their secrets. */
import { invalid, isPosthornError, PosthornError } from '../errors.ts';
import { findProvider, type Provider, type ProviderSettings } from '../inbound/providers/index.ts';
import type { Source } from '../model/index.ts';
import type { SecretBox } from '../signing/index.ts';

type Loc = readonly string[];

/** Throws for a provider that there is not, and for settings that it does not take. */
export function checkSettings(provider: string, given: ProviderSettings | undefined): ProviderSettings {
  const found = providerOf(provider);
  const settings = withoutAliases(found, given ?? {});
  try {
    found.prepare(settings);
  } catch (error) {
    throw under(['body'], error);
  }
  return settings;
}

/** By its name, or by one that it also goes by. */
export function providerOf(name: string): Provider {
  try {
    return findProvider(name);
  } catch (error) {
    throw under(['body'], error);
  }
}

export function sealSettings(box: SecretBox, settings: ProviderSettings): string {
  return box.seal(JSON.stringify(settings));
}

export function openSettings(box: SecretBox, { settings }: Pick<Source, 'settings'>): ProviderSettings {
  return JSON.parse(box.open(settings)) as ProviderSettings;
}

/** What may be seen: all but the secrets. */
export function shownSettings(provider: Provider, settings: ProviderSettings): ProviderSettings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !provider.settings[name]?.secret));
}

/** The values that must be in no answer, log line or stored header. */
export function secretsIn(provider: Provider, settings: ProviderSettings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => (provider.settings[name]?.secret ? [value].flat() : []));
}

/** `secret` is what most clients call the one secret that a provider has, whatever its own name for it. */
function withoutAliases(provider: Provider, given: ProviderSettings): ProviderSettings {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(['body', 'settings'], 'must be an object', 'type_error');
  }
  const { secret, ...rest } = given;
  if (secret === undefined || 'secret' in provider.settings) return given;
  const open = Object.entries(provider.settings).filter(([key, spec]) => spec.secret && !(key in rest));
  const [name] = (open.length > 1 ? open.filter(([, spec]) => spec.required) : open).map(([key]) => key);
  if (name === undefined) return given;
  return { ...rest, [name]: secret };
}

function under(loc: Loc, error: unknown): unknown {
  if (!isPosthornError(error, 'validation')) return error;
  const issues = error.issues.map((issue) => ({ ...issue, loc: [...loc, ...issue.loc] }));
  return new PosthornError('validation', error.message, { issues });
}
