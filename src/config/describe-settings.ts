import { type Config, SETTINGS, type Setting } from './schema.ts';

const INDENT = '      ';

/** The table of settings for a person: for help texts and `posthorn config`. With a configuration: what is set now. */
export function describeSettings(config?: Config): string {
  const entries = Object.entries<Setting<unknown>>(SETTINGS).map(([key, setting]) => {
    const value = config === undefined ? setting.fallback : config[key as keyof Config];
    const lines = [`  ${setting.env} = ${show(setting, value)}`, `${INDENT}${setting.doc}`];
    if (setting.alias !== undefined) lines.push(`${INDENT}Also read as ${setting.alias}.`);
    return lines.join('\n');
  });
  return `${entries.join('\n')}\n`;
}

function show(setting: Setting<unknown>, value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return '(not set)';
  if (setting.secret && value !== setting.fallback) return '(set, not shown)';
  const text = Array.isArray(value) ? value.join(',') : String(value);
  return setting.show?.(text) ?? text;
}
