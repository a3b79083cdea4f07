import type { Jitter, OnExhausted, Policy, RedirectMode, Schedule } from '../model/index.ts';
import { FieldReader, type Loc, type Range } from './field-reader.ts';
import { freezeDeep } from './freeze-deep.ts';
import { parseRules } from './parse-rules.ts';
import { POLICY_DEFAULTS, POLICY_LIMITS } from './policy-defaults.ts';
import { PRESET_NAMES, presets } from './presets.ts';

const POLICY_KEYS = Object.keys(POLICY_DEFAULTS);
const REDIRECT_MODES: readonly RedirectMode[] = ['success', 'follow', 'failure'];
const ON_EXHAUSTED: readonly OnExhausted[] = ['keep', 'fail', 'fail-when-silent'];

const SCHEDULE_KEYS = { explicit: ['delaysMs'], exponential: ['baseMs', 'factor', 'capMs', 'retries'] } as const;
const JITTER_KEYS = {
  none: [],
  proportional: ['below', 'above'],
  additive: ['maxMs'],
  full: [],
  hash: ['basisPoints'],
} as const;

const DELAY: Range = { min: 1, max: POLICY_LIMITS.delayMs };
const RETRIES: Range = { min: 0, max: POLICY_LIMITS.retries };
const TIMEOUT: Range = { min: 1, max: POLICY_LIMITS.timeoutMs };

/**
 * A user's policy, checked and completed: unknown keys, wrong types and values out of range are all reported together
 * in one PosthornError. Missing keys come from POLICY_DEFAULTS, or from the preset named by `extends`; `timeouts` and
 * `retryAfter` are merged key by key, everything else is replaced whole.
 */
export function parsePolicy(input: unknown, loc: readonly string[] = ['policy']): Policy {
  const read = new FieldReader();
  if (typeof input === 'string') {
    read.issue(
      loc,
      `must be an object; for a preset write {"extends": ${JSON.stringify(input.slice(0, 40))}}`,
      'type_error',
    );
  }
  const fields = typeof input === 'string' ? undefined : read.object(input, loc, ['extends', ...POLICY_KEYS]);
  const policy = complete(read, fields ?? {}, loc);
  read.finish();
  return freezeDeep(policy);
}

function complete(read: FieldReader, fields: Readonly<Record<string, unknown>>, loc: Loc): Policy {
  const base = basePolicy(read, fields.extends, [...loc, 'extends']);

  /** The user's value for a key, read, or the base's without one. */
  function field<K extends keyof Policy>(key: K, parse: (value: unknown, at: Loc) => Policy[K] | undefined): Policy[K] {
    const value = fields[key];
    return value === undefined ? base[key] : (parse(value, [...loc, key]) ?? base[key]);
  }

  return {
    schedule: field('schedule', (value, at) => parseSchedule(read, value, at)),
    jitter: field('jitter', (value, at) => parseJitter(read, value, at)),
    retryBudget: field('retryBudget', (value, at) => read.integer(value, at, RETRIES)),
    timeouts: field('timeouts', (value, at) => parseTimeouts(read, value, at, base.timeouts)),
    rules: field('rules', (value, at) => parseRules(read, value, at)),
    redirects: field('redirects', (value, at) => read.choice(value, at, REDIRECT_MODES)),
    retryAfter: field('retryAfter', (value, at) => parseRetryAfterField(read, value, at, base.retryAfter)),
    windowMs: field('windowMs', (value, at) => read.integer(value, at, { min: 0, max: POLICY_LIMITS.windowMs })),
    maxDelayMs: field('maxDelayMs', (value, at) => read.integer(value, at, DELAY)),
    onExhausted: field('onExhausted', (value, at) => read.choice(value, at, ON_EXHAUSTED)),
  };
}

function basePolicy(read: FieldReader, name: unknown, loc: Loc): Policy {
  if (name === undefined) return POLICY_DEFAULTS;
  const preset = read.choice(name, loc, PRESET_NAMES);
  return preset === undefined ? POLICY_DEFAULTS : presets[preset].policy;
}

function parseSchedule(read: FieldReader, value: unknown, loc: Loc): Schedule | undefined {
  const tagged = readKind(read, value, loc, SCHEDULE_KEYS);
  if (tagged === undefined) return undefined;
  const { kind, fields } = tagged;
  if (kind === 'explicit') {
    const at = [...loc, 'delaysMs'];
    const delays = read.array(fields.delaysMs, at, POLICY_LIMITS.retries) ?? [];
    return { kind, delaysMs: delays.map((delay, index) => read.integer(delay, [...at, String(index)], DELAY) ?? 1) };
  }
  const baseMs = read.integer(fields.baseMs, [...loc, 'baseMs'], DELAY) ?? 1;
  const factor = read.number(fields.factor, [...loc, 'factor'], { min: 1, max: POLICY_LIMITS.factor }) ?? 1;
  const capMs = read.integer(fields.capMs, [...loc, 'capMs'], DELAY) ?? baseMs;
  if (capMs < baseMs) read.issue([...loc, 'capMs'], `must be at least baseMs (${baseMs}), not ${capMs}`);
  const retries = read.integer(fields.retries, [...loc, 'retries'], RETRIES) ?? 0;
  return { kind, baseMs, factor, capMs, retries };
}

function parseJitter(read: FieldReader, value: unknown, loc: Loc): Jitter | undefined {
  const tagged = readKind(read, value, loc, JITTER_KEYS);
  if (tagged === undefined) return undefined;
  const { kind, fields } = tagged;
  const number = (key: string, max: number) => read.number(fields[key], [...loc, key], { min: 0, max }) ?? 0;
  const integer = (key: string, max: number) => read.integer(fields[key], [...loc, key], { min: 0, max }) ?? 0;
  switch (kind) {
    case 'none':
    case 'full':
      return { kind };
    case 'proportional':
      return { kind, below: number('below', 1), above: number('above', 10) };
    case 'additive':
      return { kind, maxMs: integer('maxMs', POLICY_LIMITS.delayMs) };
    case 'hash':
      return { kind, basisPoints: integer('basisPoints', 10_000) };
  }
}

interface Tagged<Kind extends string> {
  readonly kind: Kind;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An object that says its `kind` and has exactly the keys of that kind. */
function readKind<Kind extends string>(
  read: FieldReader,
  value: unknown,
  loc: Loc,
  keysOf: Readonly<Record<Kind, readonly string[]>>,
): Tagged<Kind> | undefined {
  const kinds = Object.keys(keysOf) as Kind[];
  const given = typeof value === 'object' && value !== null && Object.hasOwn(value, 'kind') ? value : undefined;
  if (given === undefined || Array.isArray(value)) {
    const names = kinds.map((kind) => `"${kind}"`).join(', ');
    return read.issue(loc, `must be an object with a "kind": ${names}`, 'type_error');
  }
  const kind = read.choice((given as { kind: unknown }).kind, [...loc, 'kind'], kinds);
  if (kind === undefined) return undefined;
  const fields = read.object(value, loc, ['kind', ...keysOf[kind]]);
  return fields && { kind, fields };
}

function parseTimeouts(read: FieldReader, value: unknown, loc: Loc, base: Policy['timeouts']): Policy['timeouts'] {
  const fields = read.object(value, loc, ['connectMs', 'totalMs']) ?? {};
  const timeout = (key: 'connectMs' | 'totalMs') =>
    fields[key] === undefined ? base[key] : (read.integer(fields[key], [...loc, key], TIMEOUT) ?? base[key]);
  return { connectMs: timeout('connectMs'), totalMs: timeout('totalMs') };
}

function parseRetryAfterField(
  read: FieldReader,
  value: unknown,
  loc: Loc,
  base: Policy['retryAfter'],
): Policy['retryAfter'] {
  const fields = read.object(value, loc, ['honour', 'capMs']) ?? {};
  const { honour, capMs } = fields;
  return {
    honour: honour === undefined ? base.honour : (read.boolean(honour, [...loc, 'honour']) ?? base.honour),
    capMs: capMs === undefined ? base.capMs : (read.integer(capMs, [...loc, 'capMs'], DELAY) ?? base.capMs),
  };
}
