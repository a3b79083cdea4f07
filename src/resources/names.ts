/** The rules for what users name and tag things with. */
import { invalid } from '../errors.ts';
import type { IdPrefix } from '../ids.ts';

const NAME = /^[a-zA-Z0-9\-_.]+$/;
const LONGEST_NAME = 256;
const MAX_METADATA_BYTES = 4096;

type Loc = readonly string[];

/** An event type's, channel's, tag's or policy's name. */
export function checkName(name: string, loc: Loc): string {
  if (typeof name !== 'string') throw invalid(loc, 'must be a string', 'type_error');
  if (name.length === 0 || name.length > LONGEST_NAME || !NAME.test(name)) {
    throw invalid(loc, `must be 1 to ${LONGEST_NAME} characters: letters, digits, "-", "_" and "."`);
  }
  return name;
}

/** A uid must not look like an id of its kind, or a path that holds one could mean two records. */
export function checkUid(uid: string, prefix: IdPrefix, loc: Loc): string {
  checkName(uid, loc);
  if (uid.startsWith(`${prefix}_`)) throw invalid(loc, `must not begin with "${prefix}_", which ids do`);
  return uid;
}

/** Whether `checkUid` takes it. */
export function isUid(name: string, prefix: IdPrefix): boolean {
  return name.length <= LONGEST_NAME && NAME.test(name) && !name.startsWith(`${prefix}_`);
}

export function checkNames(
  names: readonly string[],
  loc: Loc,
  range: { readonly min: number; readonly max: number },
): readonly string[] {
  if (names.length < range.min) {
    throw invalid(loc, 'must have at least one entry; leave it out (or null) for no filter');
  }
  if (names.length > range.max) throw invalid(loc, `must have at most ${range.max} entries, not ${names.length}`);
  names.forEach((name, index) => {
    checkName(name, [...loc, `[${index}]`]);
  });
  return [...new Set(names)];
}

export function checkMetadata(metadata: Readonly<Record<string, string>>, loc: Loc): Readonly<Record<string, string>> {
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== 'string') throw invalid([...loc, key], 'must be a string', 'type_error');
  }
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > MAX_METADATA_BYTES) {
    throw invalid(loc, `must be at most ${MAX_METADATA_BYTES} bytes as JSON, not ${bytes}`);
  }
  return { ...metadata };
}

export function checkRate(perSecond: number, loc: Loc): number {
  if (!Number.isInteger(perSecond) || perSecond < 1 || perSecond > 1_000_000) {
    throw invalid(loc, 'must be a whole number of requests a second from 1 to 1000000');
  }
  return perSecond;
}
