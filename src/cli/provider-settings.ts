/** A provider's settings as they are given on a command line, and the secret also by the environment. */
import { readFileSync } from 'node:fs';
import type { Environment } from '../config/index.ts';
import { describeError, PosthornError } from '../errors.ts';
import type { ProviderSettings } from '../inbound/providers/index.ts';
import { nameAndValue } from './set-field.ts';

export interface SettingFlags {
  readonly secret?: string;
  readonly setting?: readonly string[];
}

export const SECRET_VARIABLE = 'POSTHORN_SOURCE_SECRET';

/** A name that is given twice is a list. `name=@file` is what the file holds: keys in PEM have many lines. */
export function readSettings({ secret, setting = [] }: SettingFlags, env: Environment): ProviderSettings {
  const settings: Record<string, string | readonly string[]> = {};
  for (const assignment of setting) {
    const [name, text] = nameAndValue(assignment, '--setting');
    const value = text.startsWith('@') ? readValueFile(name, text.slice(1)) : text;
    const before = settings[name];
    settings[name] = before === undefined ? value : [before, value].flat();
  }
  const given = secret ?? env[SECRET_VARIABLE] ?? '';
  return given === '' ? settings : { ...settings, secret: given };
}

function readValueFile(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new PosthornError('validation', `--setting ${name}: ${describeError(error)}`);
  }
}

/** For options that may be given several times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
