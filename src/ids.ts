/**
 * The only door to randomness, and the makers of ids.
 *
 * An id is a prefix and 27 base62 characters, sorted by creation: 10 for the time in milliseconds and a counter, 17 at
 * random (101 bits). The counter starts low at random in each millisecond and counts up, so that the ids of one process
 * rise strictly: inserts append to their index, and a list by id is a list by age.
 */
import { randomBytes, randomFillSync } from 'node:crypto';

export type IdPrefix = 'app' | 'ep' | 'msg' | 'dlv' | 'atmpt' | 'evtype' | 'pol' | 'tok' | 'node' | 'src' | 'hdl';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LETTERS = Buffer.from(ALPHABET);
const UNDERSCORE = 0x5f;
const HEAD_LENGTH = 10;
const RANDOM_LENGTH = 17;
const MAX_ID_LENGTH = 'evtype_'.length + HEAD_LENGTH + RANDOM_LENGTH;
/** Ids a millisecond; 2^42 ms of time times this fits into ten characters and into a double's 53 bits. */
const COUNTS_PER_MS = 2048;

export interface Ids {
  /** A new id, for example `msg_2b5H…`. */
  next(prefix: IdPrefix): string;
  /** A uniform draw in [0, 1), for jitter. */
  draw(): number;
}

export function createIds(now: () => number, fill: (bytes: Uint8Array) => void = fillFromPool()): Ids {
  let lastMs = -1;
  let counter = 0;
  const random = new Uint8Array(RANDOM_LENGTH + 1);
  // Written as bytes and read as one string: put together by characters, an id leaves thirty strings behind.
  const id = Buffer.alloc(MAX_ID_LENGTH);
  const drawBytes = new Uint8Array(6);

  return {
    next(prefix) {
      fill(random);
      const ms = Math.max(0, now());
      if (ms > lastMs) {
        lastMs = ms;
        counter = (random[RANDOM_LENGTH] ?? 0) & 0x7f;
      } else if (++counter === COUNTS_PER_MS) {
        lastMs += 1;
        counter = 0;
      }
      const head = writePrefix(id, prefix);
      writeCount(id, head, lastMs * COUNTS_PER_MS + counter);
      const tail = head + HEAD_LENGTH;
      // 62 of 256 do not divide evenly: eight characters are drawn a quarter more often, which costs no bit that counts.
      for (let i = 0; i < RANDOM_LENGTH; i++) id[tail + i] = LETTERS[(random[i] ?? 0) % 62] ?? 0;
      return id.toString('latin1', 0, tail + RANDOM_LENGTH);
    },
    draw() {
      fill(drawBytes);
      let value = 0;
      for (const byte of drawBytes) value = value * 256 + byte;
      return value / 2 ** 48;
    },
  };
}

/** Answers where the head begins. */
function writePrefix(id: Buffer, prefix: IdPrefix): number {
  for (let i = 0; i < prefix.length; i++) id[i] = prefix.charCodeAt(i);
  id[prefix.length] = UNDERSCORE;
  return prefix.length + 1;
}

function writeCount(id: Buffer, at: number, count: number): void {
  for (let rest = count, i = at + HEAD_LENGTH - 1; i >= at; i--) {
    const quotient = Math.floor(rest / 62);
    id[i] = LETTERS[rest - quotient * 62] ?? 0;
    rest = quotient;
  }
}

/** What every id made at `ms` or later is at or above, and every earlier one below. */
export function floorId(prefix: IdPrefix, ms: number): string {
  const id = Buffer.alloc(MAX_ID_LENGTH);
  const head = writePrefix(id, prefix);
  writeCount(id, head, ms * COUNTS_PER_MS);
  return id.toString('latin1', 0, head + HEAD_LENGTH);
}

/** The id of another kind that was made with this one: it differs by its prefix alone, and sorts among its kind as this one does. */
export function twinId(prefix: IdPrefix, id: string): string {
  return prefix + id.slice(id.indexOf('_'));
}

/** When an id was made. Of the first part of an id, the earliest that it can be. */
export function timeOfId(id: string): number {
  const head = id.slice(id.indexOf('_') + 1).slice(0, HEAD_LENGTH);
  let count = 0;
  for (const character of head.padEnd(HEAD_LENGTH, '0')) count = count * 62 + ALPHABET.indexOf(character);
  return Math.floor(count / COUNTS_PER_MS);
}

/** A random secret of `length` bytes. */
export function randomSecret(length: number): Buffer {
  return randomBytes(length);
}

/** One call for 8 KB of randomness instead of one per id. */
function fillFromPool(): (bytes: Uint8Array) => void {
  const pool = new Uint8Array(8192);
  let offset = pool.length;
  return (bytes) => {
    if (offset + bytes.length > pool.length) {
      randomFillSync(pool);
      offset = 0;
    }
    for (let i = 0; i < bytes.length; i++) bytes[i] = pool[offset + i] ?? 0;
    offset += bytes.length;
  };
}
