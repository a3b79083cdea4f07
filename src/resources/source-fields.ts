/** What a user says of a source, checked as far as that needs no store. */
import { invalid } from '../errors.ts';
import type { ProviderSettings } from '../inbound/providers/index.ts';
import type { Dedupe, OnUnknownEvent, Source } from '../model/index.ts';
import { objectArgument, textArgument } from './argument.ts';
import { over } from './fields.ts';
import { checkMetadata, checkUid } from './names.ts';
import { checkInlinePolicy, type PolicyInput } from './policy-refs.ts';
import { checkSettings } from './source-settings.ts';
import { text } from './text.ts';

export interface SourceInput {
  readonly name: string;
  readonly uid?: string | null;
  /** `stripe`, `github`, `generic-hmac`, …, or a name that one of them also goes by. */
  readonly provider: string;
  /** As the provider asks for them; `secret` is understood where it has one secret of another name. */
  readonly settings?: ProviderSettings;
  /** `payments-inbound` without it. */
  readonly policy?: PolicyInput | null;
  readonly onUnknownEvent?: OnUnknownEvent;
  readonly dedupe?: Dedupe;
  readonly forwardAs?: Source['forwardAs'];
  readonly metadata?: Readonly<Record<string, string>>;
}

type OwnFields = Pick<Source, 'name' | 'provider' | 'onUnknownEvent' | 'dedupe' | 'forwardAs' | 'metadata'> & {
  readonly uid: string | undefined;
  readonly settings: ProviderSettings;
};

const ON_UNKNOWN: readonly OnUnknownEvent[] = ['reject', 'ignore', 'keep'];
const FORWARD_AS: readonly Source['forwardAs'][] = ['standard-webhooks', 'pass-through'];

/** Its policy may be one that the store knows by name: only one that is written out is checked here. */
export function checkSourceFields(input: SourceInput): OwnFields {
  // As it was given: `clerk` is verified as Standard Webhooks, and still called by its name.
  const provider = textArgument(input.provider, 'provider');
  if (input.policy) checkInlinePolicy(input.policy, ['body', 'policy']);
  return {
    provider,
    settings: checkSettings(provider, input.settings),
    name: text(input.name, ['body', 'name'], { min: 1, max: 256 }),
    uid: over(input.uid, undefined, (given) => checkUid(given, 'src', ['body', 'uid'])),
    onUnknownEvent: oneOf(input.onUnknownEvent ?? 'keep', ON_UNKNOWN, 'onUnknownEvent'),
    dedupe: checkDedupe(input.dedupe ?? { by: 'provider' }),
    forwardAs: oneOf(input.forwardAs ?? 'standard-webhooks', FORWARD_AS, 'forwardAs'),
    metadata: checkMetadata(input.metadata ?? {}, ['body', 'metadata']),
  };
}

function oneOf<T extends string>(value: T, allowed: readonly T[], field: string): T {
  if (allowed.includes(value)) return value;
  throw invalid(['body', field], `must be one of ${allowed.join(', ')}`);
}

function checkDedupe(given: Dedupe): Dedupe {
  const loc = ['body', 'dedupe'];
  objectArgument(given, 'dedupe');
  switch (given.by) {
    case 'provider':
    case 'body':
      return { by: given.by };
    case 'header':
      return { by: 'header', name: text(given.name, [...loc, 'name'], { min: 1, max: 256 }).toLowerCase() };
    case 'json':
      return { by: 'json', path: text(given.path, [...loc, 'path'], { min: 1, max: 256 }) };
    default:
      throw invalid([...loc, 'by'], 'must be one of provider, header, json, body');
  }
}
