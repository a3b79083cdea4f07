import { invalid } from '../../errors.ts';
import { closest } from '../../policy/index.ts';
import type { ProviderSettings, SettingSpec, SettingSpecs } from './provider.ts';

/** Checked settings: every value is a list, the ones that were not given are missing. */
export type SettingValues = Readonly<Record<string, readonly string[]>>;

/** PEM keys are the longest. */
const LONGEST_VALUE = 8192;
/** Each live secret is one more signature to compute for every request of a stranger. */
export const MOST_VALUES = 10;

export function parseSettings(specs: SettingSpecs, given: ProviderSettings): SettingValues {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(specs, name)) continue;
    const secrets = Object.keys(specs).filter((key) => specs[key]?.secret);
    // Who said `secret` where it stands for none is told which there are.
    const alias = secrets.length > 0 ? ['secret'] : [];
    const near = name === 'secret' ? secrets.join(' or ') : closest(name, [...Object.keys(specs), ...alias]);
    const known = Object.keys(specs).join(', ') || 'none';
    throw invalid(
      ['settings', name],
      `is not a setting of this provider (${known})${near ? `; did you mean ${near}?` : ''}`,
    );
  }
  const values: Record<string, readonly string[]> = {};
  for (const [name, spec] of Object.entries(specs)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined) {
      if (spec.required) throw invalid(['settings', name], `is required: ${spec.doc}`);
      continue;
    }
    values[name] = checkValues(['settings', name], spec, typeof value === 'string' ? [value] : value);
  }
  return values;
}

export function all(values: SettingValues, name: string): readonly string[] {
  return values[name] ?? [];
}

export function one(values: SettingValues, name: string): string | undefined {
  return values[name]?.[0];
}

/** Settings come from JSON too, so that the declared types prove nothing here. No message repeats a value. */
function checkValues(loc: readonly string[], spec: SettingSpec, list: unknown): readonly string[] {
  if (typeof list === 'number' && !spec.secret) throw invalid(loc, `must be a string: write "${list}"`, 'type_error');
  if (!Array.isArray(list)) throw invalid(loc, 'must be a string or a list of strings', 'type_error');
  if (list.length === 0) throw invalid(loc, `must not be empty: ${spec.doc}`);
  const most = spec.list ? MOST_VALUES : 1;
  if (list.length > most) throw invalid(loc, `takes at most ${most} ${most === 1 ? 'value' : 'values'}`);
  return list.map((value: unknown) => {
    if (typeof value !== 'string') throw invalid(loc, 'must be a string or a list of strings', 'type_error');
    if (value === '') throw invalid(loc, `must not be an empty string: ${spec.doc}`);
    if (value.length > LONGEST_VALUE) throw invalid(loc, `must not be longer than ${LONGEST_VALUE} characters`);
    if (spec.secret && value.trim() !== value && !value.includes('-----BEGIN')) {
      throw invalid(loc, 'begins or ends with a space or a line break: copy it again without');
    }
    if (spec.oneOf && !spec.oneOf.includes(value)) throw invalid(loc, `must be one of ${spec.oneOf.join(', ')}`);
    return value;
  });
}
