import { invalid } from '../errors.ts';

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Free text within its length. Lone surrogates are refused: they do not survive storing as UTF-8. */
export function text(
  value: string,
  loc: readonly string[],
  range: { readonly min: number; readonly max: number },
): string {
  if (typeof value !== 'string') throw invalid(loc, 'must be a string', 'type_error');
  if (value.length < range.min || value.length > range.max) {
    throw invalid(loc, `must be ${range.min} to ${range.max} characters long, not ${value.length}`);
  }
  if (LONE_SURROGATE.test(value)) throw invalid(loc, 'must be well-formed Unicode');
  return value;
}
