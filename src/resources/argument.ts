/** Callers in plain JavaScript may pass anything; what the store's driver says about it names nothing that is theirs. */
import { invalid } from '../errors.ts';

/** An id, uid or name, as the argument called `name`. */
export function textArgument(value: string, name: string): string {
  if (typeof value === 'string') return value;
  throw invalid([name], `must be a string, not ${kindOf(value)}`, 'type_error');
}

export function objectArgument<T extends object>(value: T, name = 'input'): T {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalid([name], `must be an object, not ${kindOf(value)}`, 'type_error');
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
