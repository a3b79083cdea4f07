/** How an input's fields become a record's. */
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

/** An absent field is the base's, a null one is none, another is what `check` makes of it. */
export function over<G, B, C>(given: G | null | undefined, base: B, check: (given: G) => C): B | C | undefined {
  if (given === undefined) return base;
  return given === null ? undefined : check(given);
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the keys that have no value: a record leaves out what there is none of. */
export function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}
