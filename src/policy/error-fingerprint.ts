/**
 * What makes two failures the same, as a short stable hash: the status or error kind, and the message with all that
 * differs from event to event taken out of it. Groups of dead letters go by it, so it is the same on every machine.
 *
 * What comes in is a stranger's text: every pattern is bounded, and only the beginning is looked at.
 */
import { type Attempt, SENDING_ERROR_KINDS } from '../model/index.ts';
import { hashFraction } from './hash-fraction.ts';
import { jsonShape } from './json-shape.ts';

type Failure = Pick<Attempt, 'status' | 'error' | 'response'>;

const LONGEST_READ = 4000;
const LONGEST_KEPT = 500;
const LONGEST_LINE = 300;

/** Twelve hex digits. */
export function errorFingerprint(failure: Failure): string {
  const fraction = hashFraction(`${kindOf(failure)}\n${essenceOf(failure)}`);
  return Math.floor(fraction * 2 ** 48)
    .toString(16)
    .padStart(12, '0');
}

/** The failure in one line for a person: `HTTP 503: try later`, `database: no connection`. */
export function errorLine(failure: Failure): string {
  const text = saidIn(failure)
    .slice(0, LONGEST_READ)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  const line = text === '' ? kindOf(failure) : `${kindOf(failure)}: ${text}`;
  // By characters, not by units: a surrogate pair that is cut in two cannot be stored.
  return line.length <= LONGEST_LINE ? line : `${[...line].slice(0, LONGEST_LINE - 1).join('')}…`;
}

function kindOf({ status, error }: Failure): string {
  return error ?? `HTTP ${status}`;
}

/** Where it was thrown is for who looks at one failure, and is another place in every release. */
function saidIn({ error, response }: Failure): string {
  const stack = error === 'unexpected' ? response.indexOf('\n    at ') : -1;
  return stack < 0 ? response : response.slice(0, stack);
}

function essenceOf(failure: Failure): string {
  const { error } = failure;
  const text = saidIn(failure).trim();
  const json = error === undefined ? jsonShape(text, withoutParticulars) : undefined;
  if (json !== undefined) return json.slice(0, LONGEST_KEPT);
  const start = text.slice(0, LONGEST_READ);
  // A proxy's error page says in its title what it is about; the rest is layout.
  const title = /<title>([^<]{1,200})<\/title>/i.exec(start)?.[1];
  return withoutParticulars(title ?? start, error !== undefined && OURS.has(error));
}

/** Messages in our own words: a host name in one of these says where, never what. */
const OURS: ReadonlySet<string> = new Set(SENDING_ERROR_KINDS);

const DAY = '(?:mon|tue|wed|thu|fri|sat|sun)';
const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)';
const HOST = '[a-z0-9](?:[a-z0-9-]{0,62}\\.){1,8}[a-z0-9-]{1,63}';

/**
 * In this order: what a later pattern would take apart goes first. All become the same sign: an id may consist of digits
 * alone, and is then no other error.
 */
const PARTICULARS: readonly (readonly [RegExp, string])[] = [
  [/\bhttps?:\/\/[^\s"'<>)\]]{1,2000}/g, '#'],
  [/\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?(?:z|\s?[+-]\d\d:?\d\d)?/g, '#'],
  [new RegExp(`\\b${DAY},? \\d{1,2} ${MONTH} \\d{4} \\d\\d:\\d\\d:\\d\\d(?: gmt| utc)?`, 'g'), '#'],
  [/\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?\b/g, '#'],
  [/\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g, '#'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '#'],
  [/(^|[^\w])"[^"]{0,1000}"/g, '$1#'],
  [/(^|[^\w])'[^']{0,1000}'/g, '$1#'],
  [/(^|[^\w])`[^`]{0,1000}`/g, '$1#'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '#'],
  [/(?<![\w:])\[?(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?:\]:\d{1,5}|\])?(?!\w)/g, '#'],
  [/\blocalhost:\d{1,5}\b/g, '#'],
  [new RegExp(`\\b${HOST}:\\d{1,5}\\b`, 'g'), '#'],
  // cus_9s6XKz…, evt_1234: the prefix says what kind of thing it is.
  [/\b([a-z]{2,10})_(?:[a-z0-9]{16,64}|(?=[a-z]{0,63}\d)[a-z0-9]{3,64})\b/g, '$1_#'],
  [/\b0x[0-9a-f]{1,64}\b/g, '#'],
  [/\b(?=[a-f]{0,63}\d)[0-9a-f]{8,128}\b/g, '#'],
  [/\b(?=[a-z]{0,63}\d)[a-z0-9]{20,128}\b/g, '#'],
  [/\d+(?:[.,]\d+){0,8}/g, '#'],
];
const HOST_ALONE = new RegExp(`\\b${HOST}\\b`, 'g');

function withoutParticulars(text: string, ours = false): string {
  let rest = text.slice(0, LONGEST_READ).toLowerCase();
  for (const [pattern, word] of PARTICULARS) rest = rest.replace(pattern, word);
  if (ours) rest = rest.replace(HOST_ALONE, '#');
  return rest
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_KEPT);
}
