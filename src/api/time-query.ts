/** What lists of messages, attempts and deliveries are narrowed by, from the query to the resources' words. */
import { invalid } from '../errors.ts';
import { parseIsoTime } from '../iso-time.ts';

interface TimeQueryText {
  readonly limit?: number;
  readonly iterator?: string;
  readonly before?: string;
  readonly after?: string;
  readonly event_types?: readonly string[];
}

interface TimeQuery {
  readonly limit?: number;
  readonly iterator?: string;
  readonly before?: number;
  readonly after?: number;
  readonly eventTypes?: readonly string[];
}

/** SDKs write lists in one of three ways: `event_types=a,b`, `event_types[]=a`, `event_types[0]=a`. */
const LISTED_EVENT_TYPE = /^event_types\[\d*\]$/;

export function readTimeQuery(query: TimeQueryText): TimeQuery {
  const eventTypes = words(eventTypeTexts(query));
  return {
    ...(query.limit !== undefined && { limit: query.limit }),
    ...(query.iterator !== undefined && { iterator: query.iterator }),
    ...(query.before !== undefined && { before: readTime(query.before, ['query', 'before']) }),
    ...(query.after !== undefined && { after: readTime(query.after, ['query', 'after']) }),
    ...(eventTypes.length > 0 && { eventTypes }),
  };
}

export function readTime(text: string, loc: readonly string[]): number {
  const ms = parseIsoTime(text);
  if (ms !== undefined) return ms;
  throw invalid(loc, 'must be a date that exists, such as 2030-01-31 or 2030-01-31T12:00:00Z', 'value_error.datetime');
}

/** `a,b`, `a, b` and `a` with `b` alike; empty ones do not count. */
export function words(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(',').map((word) => word.trim())).filter((word) => word !== '');
}

export function eventTypeTexts(query: TimeQueryText): readonly string[] {
  const listed = Object.entries(query)
    .filter(([name]) => LISTED_EVENT_TYPE.test(name))
    .flatMap(([, value]) => value as string | string[]);
  return [...(query.event_types ?? []), ...listed];
}
