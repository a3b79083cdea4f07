import { isDeepStrictEqual } from 'node:util';
import { invalid } from '../errors.ts';

/**
 * A field that two generations of clients call differently (`rateLimit` and `throttleRate`). Both may be given, as they
 * are when a client sends back what it read; they must then agree, or one of the two wishes would be lost in silence.
 */
export function aliased<T extends object, A extends keyof T & string, B extends keyof T & string>(
  input: T,
  name: A,
  alias: B,
): T[A] | T[B] | undefined {
  const [first, second] = [input[name], input[alias]];
  if (first === undefined) return second;
  if (second !== undefined && !isDeepStrictEqual(first, second)) {
    throw invalid(['body', alias], `is another name of "${name}", and the two differ; give one of them`);
  }
  return first;
}
