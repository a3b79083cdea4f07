import { PosthornError } from '../errors.ts';
import { closest } from '../policy/index.ts';
import type { Parsed } from './parsers.ts';
import { type Config, SETTINGS, type Setting } from './schema.ts';

/** The shape of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings given in code or on the command line, as values or as text. They win over the environment. */
export type Overrides = { readonly [K in keyof Config]?: Config[K] | string | undefined };

interface Given {
  readonly name: string;
  readonly text: string;
}

/**
 * The whole configuration, or one `config_invalid` that lists everything wrong with it. An empty variable counts as not
 * set: compose files pass on unset variables that way. An unknown `POSTHORN_*` is an error: a misspelt setting that is
 * silently ignored is found in production.
 */
export function loadConfig(input: { readonly env?: Environment; readonly overrides?: Overrides }): Config {
  const env = input.env ?? {};
  const problems = [...unknownVariables(env), ...unknownKeys(input.overrides ?? {})];

  const entries = Object.entries<Setting<unknown>>(SETTINGS).map(([key, setting]) => {
    const override = input.overrides?.[key as keyof Config];
    const given = override === undefined ? fromEnvironment(env, setting) : [{ name: key, text: toText(override) }];
    return [key, readSetting(setting, given, problems)];
  });

  if (problems.length > 0) throw configInvalid(problems);
  return Object.freeze(Object.fromEntries(entries)) as Config;
}

function readSetting(setting: Setting<unknown>, given: readonly Given[], problems: string[]): unknown {
  const values = given.map(({ name, text }) => {
    const parsed: Parsed<unknown> = setting.parse(text);
    if ('value' in parsed) return parsed.value;
    problems.push(`${name}${shown(setting, text)} ${parsed.refused}`);
    return undefined;
  });
  const [first, second] = values;
  if (first !== undefined && second !== undefined && first !== second) {
    const both = given.map(({ name, text }) => `${name}${shown(setting, text)}`).join(' and ');
    problems.push(`${both} are the same setting with different values: set one of them`);
  }
  return Object.freeze(first ?? setting.fallback);
}

function fromEnvironment(env: Environment, setting: Setting<unknown>): Given[] {
  const names = setting.alias === undefined ? [setting.env] : [setting.env, setting.alias];
  return names.map((name) => ({ name, text: env[name]?.trim() ?? '' })).filter(({ text }) => text !== '');
}

/** Not settings of a server: they tell commands that talk to one where it is, and what a source's secret is. */
const CLIENT_VARIABLES = ['POSTHORN_URL', 'POSTHORN_SOURCE_SECRET'];

function unknownVariables(env: Environment): string[] {
  const known = Object.values<Setting<unknown>>(SETTINGS).map((setting) => setting.env);
  return Object.keys(env)
    .filter((name) => name.startsWith('POSTHORN_') && !known.includes(name) && !CLIENT_VARIABLES.includes(name))
    .map((name) => notASetting(name, known));
}

/** Callers in plain JavaScript have no compiler to tell them. */
function unknownKeys(overrides: Overrides): string[] {
  return Object.keys(overrides)
    .filter((key) => !Object.hasOwn(SETTINGS, key))
    .map((key) => notASetting(key, Object.keys(SETTINGS)));
}

function notASetting(name: string, known: readonly string[]): string {
  const near = closest(name, known);
  return `${name} is not a setting${near === undefined ? '; `posthorn config` lists them all' : `; did you mean ${near}?`}`;
}

const LONGEST_SHOWN = 60;

function shown(setting: Setting<unknown>, text: string): string {
  if (setting.secret) return ` (${text.length} characters)`;
  const told = setting.show?.(text) ?? text;
  return `=${JSON.stringify(told.length > LONGEST_SHOWN ? `${told.slice(0, LONGEST_SHOWN)}…` : told)}`;
}

function toText(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value);
}

function configInvalid(problems: readonly string[]): PosthornError {
  const [only] = problems;
  const message =
    problems.length === 1
      ? `The configuration is wrong: ${only}${only?.endsWith('?') ? '' : '.'}`
      : `The configuration is wrong in ${problems.length} places:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`;
  return new PosthornError('config_invalid', message);
}
