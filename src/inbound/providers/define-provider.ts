import { invalid } from '../../errors.ts';
import { closest } from '../../policy/index.ts';
import type { InboundEvent } from './inbound-event.ts';
import type { InboundRequest, Provider, SampleOptions, SettingSpec, SettingSpecs, Verify } from './provider.ts';
import { one, parseSettings, type SettingValues } from './settings.ts';

export interface Sample {
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body: object | string;
}

export type Samples = Readonly<Record<string, (options: SampleOptions) => Sample>>;

/** A provider as its own file writes it; `defineProvider` adds what is the same for all. */
export interface ProviderDefinition
  extends Omit<Provider, 'aliases' | 'prepare' | 'typeOf' | 'sampleTypes' | 'sample' | 'sign' | 'signSettings'> {
  readonly aliases?: readonly string[];
  readonly signSettings?: SettingSpecs;
  prepare(settings: SettingValues, toleranceMs: number): Verify;
  eventOf(request: InboundRequest, settings: SettingValues): InboundEvent;
  readonly samples: Samples;
  sign(request: InboundRequest, settings: SettingValues, now: number): InboundRequest;
}

const DEFAULT_SAMPLE_URL = 'https://example.com/in/source';
const LONGEST_TOLERANCE_S = 30 * 86_400;

const TOLERANCE_SETTING: SettingSpecs = {
  toleranceSeconds: { doc: 'how far the signed timestamp may be from now, in seconds, if not the usual window' },
};

/** A provider whose names and settings the compiler knows, too. */
export interface KnownProvider<
  Name extends string = string,
  Setting extends string = string,
  Needed extends string = string,
  Secret extends string = string,
> extends Provider {
  readonly name: Name;
  readonly aliases: readonly Name[];
  readonly settings: Readonly<Record<Setting, SettingSpec>> &
    Readonly<Record<Needed, { readonly required: true }>> &
    Readonly<Record<Secret, { readonly secret: true }>>;
}

type NameOf<D extends ProviderDefinition> =
  | D['name']
  | (D extends { aliases: readonly (infer Alias extends string)[] } ? Alias : never);
type SettingWith<D extends ProviderDefinition, Facts> = {
  [S in keyof D['settings'] & string]: D['settings'][S] extends Facts ? S : never;
}[keyof D['settings'] & string];
interface IsNeeded {
  readonly required: true;
}
interface IsMainSecret extends IsNeeded {
  readonly secret: true;
}

export function defineProvider<const D extends ProviderDefinition>(
  definition: D,
): KnownProvider<
  NameOf<D>,
  // Written out: by a name of its own, the compiler's errors would show all of the definition.
  (keyof D['settings'] & string) | (D extends { toleranceMs: number } ? 'toleranceSeconds' : never),
  SettingWith<D, IsNeeded>,
  SettingWith<D, IsMainSecret>
>;
export function defineProvider(definition: ProviderDefinition): Provider {
  const { samples, eventOf, prepare, sign, ...facts } = definition;
  const settings = facts.toleranceMs === undefined ? facts.settings : { ...facts.settings, ...TOLERANCE_SETTING };
  const signSettings = facts.signSettings ?? {};
  return {
    ...facts,
    aliases: facts.aliases ?? [],
    settings,
    signSettings,
    prepare(given) {
      const values = parseSettings(settings, given);
      const toleranceMs = toleranceOf(values) ?? facts.toleranceMs ?? 0;
      return {
        toleranceMs,
        verify: prepare(values, toleranceMs),
        eventOf: (request) => eventOf(request, values),
      };
    },
    typeOf(request, given) {
      const values = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, [value].flat()]));
      return eventOf(request, values).type;
    },
    sampleTypes: Object.keys(samples),
    sample(type, options) {
      const make = Object.hasOwn(samples, type) ? samples[type] : undefined;
      if (make === undefined) throw unknownSample(type, Object.keys(samples));
      const { headers, body } = make(options);
      return {
        method: 'POST',
        url: options.url ?? DEFAULT_SAMPLE_URL,
        headers: { 'content-type': 'application/json', ...headers },
        body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      };
    },
    sign: (request, given, now) => sign(request, parseSettings({ ...settings, ...signSettings }, given), now),
  };
}

function toleranceOf(values: SettingValues): number | undefined {
  const text = one(values, 'toleranceSeconds');
  if (text === undefined) return undefined;
  const seconds = /^[1-9]\d{0,7}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= LONGEST_TOLERANCE_S)) {
    throw invalid(['settings', 'toleranceSeconds'], `must be a whole number from 1 to ${LONGEST_TOLERANCE_S}`);
  }
  return seconds * 1000;
}

function unknownSample(type: string, known: readonly string[]) {
  const near = closest(type, known);
  return invalid(
    ['type'],
    `there is no sample of it; there are ${known.join(', ')}${near ? `; did you mean ${near}?` : ''}`,
  );
}
