/** What source() is called with, as a compiler knows it. */
import type { PolicyInput, SourceInput } from '../../resources/index.ts';
import type { ProviderName, SettingsOf } from '../providers/index.ts';

export interface SourceOptions extends Omit<SourceInput, 'name' | 'uid' | 'provider' | 'policy'> {
  /** The source's own name without it. */
  readonly provider?: string;
  /** The provider's secret, or several while one is being changed; instead of `settings` where that is all it needs. */
  readonly secret?: string | readonly string[];
  readonly policy?: PolicyInput;
}

/**
 * A source's name and options, whose settings must be those of its provider: the one that `provider` names, or the one that
 * the source is named after.
 */
export type SourceArguments = {
  [P in ProviderName]:
    | [name: P, options: Typed<P> & { readonly provider?: P }]
    | [name: string, options: Typed<P> & { readonly provider: P }];
}[ProviderName];

type Typed<P extends ProviderName> = Omit<SourceOptions, 'provider' | 'settings'> & {
  readonly settings?: SettingsOf<P>;
};
