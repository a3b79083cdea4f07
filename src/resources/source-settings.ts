/** A provider's settings: checked before they are stored, sealed at rest, and shown without their secrets. */
import { invalid, isPosthornError, PosthornError } from '../errors.ts';
import { findProvider, MOST_VALUES, type Provider, type ProviderSettings } from '../inbound/providers/index.ts';
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

/** How many secrets are taken beside the newest ones: they have no end of their own, and work until they are dropped. */
export function formerSecrets(provider: Provider, settings: ProviderSettings): number {
  const secrets = Object.entries(settings).filter(([name]) => provider.settings[name]?.secret);
  return secrets.reduce((sum, [, value]) => sum + Math.max(0, [value].flat().length - 1), 0);
}

/** `secret` is what most clients call the one secret that a provider has, whatever its own name for it. */
function withoutAliases(provider: Provider, given: ProviderSettings): ProviderSettings {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid(['body', 'settings'], 'must be an object', 'type_error');
  }
  const { secret, ...rest } = given;
  if (secret === undefined) return given;
  const main = secretSetting(provider);
  if (main !== undefined && main in rest) {
    throw invalid(['body', 'settings', 'secret'], `is another name of "${main}", and both are given; give one of them`);
  }
  const name = secretSetting(provider, Object.keys(rest));
  return name === undefined ? given : { ...rest, [name]: secret };
}

/** The setting that `secret` stands for, beside those that have a value; undefined where none or several could be meant. */
export function secretSetting(provider: Provider, given: readonly string[] = []): string | undefined {
  if ('secret' in provider.settings) return 'secret';
  const open = Object.entries(provider.settings).filter(([key, spec]) => spec.secret && !given.includes(key));
  const meant = open.length > 1 ? open.filter(([, spec]) => spec.required) : open;
  return meant[0]?.[0];
}

/** With the secrets of before, where none is given: who reads a source, changes it and gives it back has not seen them. */
export function withSecretsOf(
  name: string,
  before: ProviderSettings | undefined,
  given: ProviderSettings | undefined,
): ProviderSettings | undefined {
  if (before === undefined || typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  if ('secret' in given) return given;
  const provider = providerOf(name);
  const isSecret = (setting: string) => provider.settings[setting]?.secret === true;
  if (Object.keys(given).some(isSecret)) return given;
  return { ...given, ...Object.fromEntries(Object.entries(before).filter(([setting]) => isSecret(setting))) };
}

/** With a new secret before those that were live so far, which go on being taken unless they are dropped. */
export function withNewSecret(name: string, settings: ProviderSettings, secret: string, dropOld: boolean) {
  const provider = providerOf(name);
  const key = secretSetting(provider);
  const spec = key === undefined ? undefined : provider.settings[key];
  if (key === undefined || spec === undefined) {
    const names = Object.keys(provider.settings).join(', ') || 'none';
    throw invalid(
      ['body', 'secret'],
      `cannot be rotated: ${provider.title} has no secret to change. For its settings (${names}), send the whole source ` +
        'with its new config: PUT /ingest/api/v1/source/{source}, or sources.update in a program',
    );
  }
  if (dropOld || !spec.list) return { ...settings, [key]: secret };
  const former = [settings[key] ?? []].flat().filter((each) => each !== secret);
  if (former.length >= MOST_VALUES) {
    throw new PosthornError(
      'limit_reached',
      `A source may have ${MOST_VALUES} secrets that work at the same time: drop the former ones when you add this one (dropOld)`,
    );
  }
  return { ...settings, [key]: former.length > 0 ? [secret, ...former] : secret };
}

function under(loc: Loc, error: unknown): unknown {
  if (!isPosthornError(error, 'validation')) return error;
  const issues = error.issues.map((issue) => ({ ...issue, loc: [...loc, ...issue.loc] }));
  return new PosthornError('validation', error.message, { issues });
}
