/** What source() is called with, as the compiler knows it. */
import type { PolicyInput, SourceInput } from '../../resources/index.ts';
import type { MainSecret, NeededSetting, ProviderName, SettingOf } from '../providers/index.ts';

export interface SourceOptions extends Omit<SourceInput, 'name' | 'uid' | 'provider' | 'policy'> {
  /** The source's own name without it. */
  readonly provider?: string;
  /** The provider's secret, or several while one is being changed; instead of `settings` where that is all it needs. */
  readonly secret?: Value;
  readonly policy?: PolicyInput;
}

type Value = string | readonly string[];
/** What has the same type for all providers. */
type Plain = Omit<SourceOptions, 'provider' | 'secret' | 'settings'>;

/** Any of the settings, and those that are needed. */
type Settings<Setting extends string, Needed extends string> =
  IsNone<Setting> extends true
    ? Readonly<Record<string, never>>
    : { readonly [S in Needed]: Value } & { readonly [S in Exclude<Setting, Needed>]?: Value };

type Beside<P extends ProviderName> = Exclude<SettingOf<P>, MainSecret<P>>;
type NeededBeside<P extends ProviderName> = Exclude<NeededSetting<P>, MainSecret<P>>;

// Interfaces, because errors of the compiler call them by their names and do not write them out.
interface WithSecret<P extends ProviderName> extends Plain {
  readonly provider?: P;
  readonly secret: Value;
  readonly settings?: Settings<Beside<P>, never>;
}
interface WithSecretAndSettings<P extends ProviderName> extends Plain {
  readonly provider?: P;
  readonly secret: Value;
  readonly settings: Settings<Beside<P>, NeededBeside<P>>;
}
interface WithSettings<P extends ProviderName> extends Plain {
  readonly provider?: P;
  readonly secret?: never;
  readonly settings: Settings<SettingOf<P>, NeededSetting<P>>;
}
interface WithoutSecret<P extends ProviderName> extends Plain {
  readonly provider?: P;
  readonly secret?: never;
  readonly settings?: Settings<SettingOf<P>, never>;
}

type IsNone<T> = [T] extends [never] ? true : false;
type OptionsOf<P extends ProviderName> =
  IsNone<NeededSetting<P>> extends true
    ? WithoutSecret<P>
    : IsNone<MainSecret<P>> extends true
      ? WithSettings<P>
      : IsNone<NeededBeside<P>> extends true
        ? WithSettings<P> | WithSecret<P>
        : WithSettings<P> | WithSecretAndSettings<P>;

/** Providers that need a secret and nothing else. */
type SecretProvider = {
  [P in ProviderName]: IsNone<MainSecret<P>> extends true ? never : IsNone<NeededBeside<P>> extends true ? P : never;
}[ProviderName];
interface OnlySecret extends Plain {
  readonly provider?: never;
  readonly secret: Value;
  readonly settings?: never;
}

type Flat<T> = { [K in keyof T]: T[K] };
type NamedOptions = { [P in ProviderName]: Flat<OptionsOf<P> & { readonly provider: P }> }[ProviderName];

/** With the provider that it names. */
type CalledOtherwise = [name: string, options: NamedOptions];
/** One of several providers, which of them the compiler does not know. */
type CalledAsOneOf = [name: SecretProvider, options: OnlySecret];
/** After the provider that it is called as. */
type CalledAs = { [P in ProviderName]: [name: P, options: OptionsOf<P>] }[ProviderName];

/**
 * A source's name and options, whose settings must be those of its provider: the one that `provider` names, or the one that
 * the source is named after. In this order: where none fits, the compiler complains of the last.
 */
export type SourceArguments = CalledOtherwise | CalledAsOneOf | CalledAs;
