/** Which dead letters, from the query or the body to the resources' words. */
import { invalid } from '../errors.ts';
import { closest } from '../policy/index.ts';
import { checkMeant, type DeadLetterSelection } from '../resources/index.ts';
import {
  type DeadLetterArchiveQuery,
  type DeadLetterSelection as SelectionIn,
  DeadLetterSelection as SelectionSchema,
} from './contract-dead-letter.ts';
import { eventTypeTexts, readTime, readTimeQuery, words } from './time-query.ts';

interface DiedText {
  readonly died_before?: string;
  readonly died_after?: string;
}

export function readDied(query: DiedText): { diedBefore?: number; diedAfter?: number } {
  const { died_before: before, died_after: after } = query;
  return {
    ...(before !== undefined && { diedBefore: readTime(before, ['query', 'died_before']) }),
    ...(after !== undefined && { diedAfter: readTime(after, ['query', 'died_after']) }),
  };
}

/** All but the application, which the token has a say in. */
export function readFilter(query: DeadLetterArchiveQuery): Omit<DeadLetterSelection, 'application'> {
  const { source, endpoint, message, group, cause, fingerprint, error } = query;
  const eventTypes = eventTypeTexts(query);
  return {
    ...readTimeQuery(query),
    // Other lists take none for all. Here they preview what is retried, discarded or removed, which refuses it.
    ...(eventTypes.length > 0 && { eventTypes: words(eventTypes) }),
    ...readDied(query),
    ...(source !== undefined && { source }),
    ...(endpoint !== undefined && { endpoint }),
    ...(message !== undefined && { message }),
    ...(group !== undefined && { group }),
    ...(cause !== undefined && { cause }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(error !== undefined && { error }),
  };
}

const FIELDS = Object.keys(SelectionSchema.properties);
const TIMES = ['before', 'after', 'diedBefore', 'diedAfter'] as const;

/** A misspelt field, or none, must not pass: either would take every dead letter there is, or all of the token's application. */
export function readSelection(selection: SelectionIn, loc: readonly string[]): DeadLetterSelection {
  for (const name of Object.keys(selection)) {
    if (FIELDS.includes(name)) continue;
    const near = closest(name, FIELDS);
    const hint = near === undefined ? `use ${FIELDS.join(', ')}` : `did you mean "${near}"?`;
    throw invalid([...loc, name], `is not a field to select by; ${hint}`);
  }
  const { before: _b, after: _a, diedBefore: _db, diedAfter: _da, ...rest } = selection;
  const times = TIMES.flatMap((name) => {
    const text = selection[name];
    return text === undefined ? [] : [[name, readTime(text, [...loc, name])]];
  });
  const read = { ...rest, ...Object.fromEntries(times) };
  checkMeant(read, loc);
  return read;
}
