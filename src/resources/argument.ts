/** Callers in plain JavaScript may pass anything; what the store's driver says about it names nothing that is theirs. */
import { invalid } from '../errors.ts';
import { closest } from '../policy/index.ts';

/** An id, uid or name, as the argument called `name`. */
export function textArgument(value: string, name: string): string {
  if (typeof value === 'string') return value;
  throw invalid([name], `must be a string, not ${kindOf(value)}`, 'type_error');
}

/** What narrows a selection. An empty text is in every error line: what a variable that nobody set leaves would take all. */
export function filterArgument(value: string, name: string): string {
  if (textArgument(value, name).trim() !== '') return value;
  throw invalid([name], 'must not be empty; leave it out to select by something else');
}

export function objectArgument<T extends object>(value: T, name = 'input'): T {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalid([name], `must be an object, not ${kindOf(value)}`, 'type_error');
}

export function namesArgument<T extends string>(value: readonly T[], name: string): readonly T[] {
  const given: unknown = value;
  if (Array.isArray(given) && given.every((each) => typeof each === 'string')) {
    if (given.length > 0 && given.every((each) => each.trim() !== '')) return value;
    throw invalid([name], 'must have at least one entry, and none that is empty; leave it out for all');
  }
  const instead = Array.isArray(given) ? '' : `, not ${kindOf(given)}`;
  throw invalid([name], `must be a list of strings${instead}`, 'type_error');
}

export function timeArgument(value: number, name: string): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  const given = typeof value === 'number' ? 'NaN' : kindOf(value);
  throw invalid(
    [name],
    `must be a number, the milliseconds since 1970 as Date.now() has them, not ${given}`,
    'type_error',
  );
}

export function choiceArgument<T extends string>(value: T, name: string, choices: readonly T[]): T {
  if (choices.includes(value)) return value;
  throw invalid([name], `must be ${choices.join(' or ')}`);
}

export interface KnownKeys {
  /** `a field of an endpoint`. */
  readonly noun: string;
  readonly known: readonly string[];
  /** Let pass, and never proposed. */
  readonly shown?: readonly string[];
}

/** A misspelt key must not pass for none. What is no object is somebody else's to refuse. */
export function refuseUnknownKeys(given: unknown, { noun, known, shown = [] }: KnownKeys): void {
  if (typeof given !== 'object' || given === null) return;
  for (const key of Object.keys(given)) {
    if (known.includes(key) || shown.includes(key)) continue;
    const near = closest(key, known);
    const hint = near === undefined ? `there are ${known.join(', ') || 'none'}` : `did you mean ${near}?`;
    throw invalid([key], `is not ${noun}; ${hint}`, 'value_error.extra');
  }
}

/** `a string`, `a list`, `undefined`: for what was given instead of what is asked for. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
