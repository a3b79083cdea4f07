import { type Issue, PosthornError } from '../errors.ts';
import { closest } from './closest.ts';

/** A hostile document may be wrong in a million places; a person reads the first few. */
const MOST_ISSUES = 50;
const LONGEST_QUOTE = 40;

export interface Range {
  readonly min: number;
  readonly max: number;
}

export type Loc = readonly string[];

/**
 * Reads plain data field by field and collects everything that is wrong, so that the user sees it at once. A reading
 * that failed gives undefined; `finish` throws before anyone can use the result.
 */
export class FieldReader {
  readonly #issues: Issue[] = [];
  #more = 0;

  issue(loc: Loc, msg: string, type = 'value_error'): undefined {
    if (this.#issues.length < MOST_ISSUES) this.#issues.push({ loc, msg, type });
    else this.#more += 1;
  }

  /** An object with these keys and no others. */
  object(value: unknown, loc: Loc, keys: readonly string[]): Readonly<Record<string, unknown>> | undefined {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return this.issue(loc, `must be an object with ${list(keys)}`, 'type_error');
    }
    for (const key of Object.keys(value)) {
      if (!keys.includes(key)) this.issue([...loc, key], unknownKey(key, keys), 'value_error.extra');
    }
    // A copy without a prototype: a missing key is never found as `constructor` or the like.
    return Object.assign(Object.create(null) as Record<string, unknown>, value);
  }

  array(value: unknown, loc: Loc, longest: number): readonly unknown[] | undefined {
    if (!Array.isArray(value)) return this.issue(loc, 'must be a list', 'type_error');
    if (value.length > longest) return this.issue(loc, `must have at most ${longest} entries, not ${value.length}`);
    return value;
  }

  integer(value: unknown, loc: Loc, range: Range): number | undefined {
    if (typeof value === 'number' && Number.isFinite(value) && !Number.isInteger(value)) {
      return this.issue(loc, `must be a whole number, not ${value}`);
    }
    return this.number(value, loc, range);
  }

  number(value: unknown, loc: Loc, { min, max }: Range): number | undefined {
    if (value === undefined) return this.issue(loc, 'is required', 'value_error.missing');
    if (typeof value !== 'number' || Number.isNaN(value)) {
      return this.issue(loc, `must be a number, not ${quote(value)}`, 'type_error');
    }
    if (value < min || value > max) return this.issue(loc, `must be from ${min} to ${max}, not ${value}`);
    // -0 would not survive JSON.
    return value === 0 ? 0 : value;
  }

  boolean(value: unknown, loc: Loc): boolean | undefined {
    return typeof value === 'boolean'
      ? value
      : this.issue(loc, `must be true or false, not ${quote(value)}`, 'type_error');
  }

  choice<T extends string>(value: unknown, loc: Loc, choices: readonly T[]): T | undefined {
    if (value === undefined) return this.issue(loc, `is required: ${list(choices)}`, 'value_error.missing');
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    return this.issue(loc, unknownWord(`must be one of ${list(choices)}, not`, value, choices));
  }

  finish(): void {
    if (this.#issues.length === 0) return;
    const lines = this.#issues.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
    if (this.#more > 0) lines.push(`and ${this.#more} more`);
    throw new PosthornError('validation', lines.join('; '), { issues: this.#issues });
  }
}

function unknownKey(key: string, keys: readonly string[]): string {
  const message = unknownWord('unknown key', key, keys);
  return closest(key, keys) === undefined ? `${message}; the keys are ${list(keys)}` : message;
}

function unknownWord(prefix: string, word: unknown, candidates: readonly string[]): string {
  const near = typeof word === 'string' ? closest(word, candidates) : undefined;
  return `${prefix} ${quote(word)}${near === undefined ? '' : `; did you mean "${near}"?`}`;
}

function list(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(', ');
}

/** The user's value as written, cut to a length that fits in a message. */
export function quote(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > LONGEST_QUOTE ? `${value.slice(0, LONGEST_QUOTE)}…` : value);
}
