/**
 * The only door to randomness, and the makers of ids.
 *
 * An id is a prefix and 27 base62 characters over 20 bytes, sorted by creation: 4 bytes of seconds since 2014-05-13
 * (the KSUID epoch), 1 byte of 4 ms ticks, 2 bytes of counter, 13 random bytes. The counter starts low at random in
 * each tick and counts up, so that the ids of one process rise strictly: inserts append to their index, and a list
 * by id is a list by age.
 */
import { randomBytes, randomFillSync } from 'node:crypto';

export type IdPrefix = 'app' | 'ep' | 'msg' | 'dlv' | 'atmpt' | 'evtype' | 'pol' | 'tok' | 'node' | 'src';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KSUID_EPOCH_S = 1_400_000_000;
const ID_LENGTH = 27;

export interface Ids {
  /** A new id, for example `msg_2b5H…`. */
  next(prefix: IdPrefix): string;
  /** A uniform draw in [0, 1), for jitter. */
  draw(): number;
}

export function createIds(now: () => number, fill: (bytes: Uint8Array) => void = fillFromPool()): Ids {
  let tick = -1;
  let counter = 0;
  const bytes = new Uint8Array(20);
  const random = new Uint8Array(13);
  const drawBytes = new Uint8Array(6);

  return {
    next(prefix) {
      const elapsedMs = Math.max(0, now() - KSUID_EPOCH_S * 1000);
      const current = Math.floor(elapsedMs / 1000) * 256 + Math.floor((elapsedMs % 1000) / 4);
      fill(random);
      if (current > tick) {
        tick = current;
        counter = (random[0] ?? 0) & 0x7f;
      } else if (++counter > 0xffff) {
        tick += 1;
        counter = 0;
      }
      const seconds = Math.floor(tick / 256);
      bytes[0] = seconds >>> 24;
      bytes[1] = seconds >>> 16;
      bytes[2] = seconds >>> 8;
      bytes[3] = seconds;
      bytes[4] = tick % 256;
      bytes[5] = counter >>> 8;
      bytes[6] = counter;
      bytes.set(random, 7);
      return `${prefix}_${encodeBase62(bytes)}`;
    },
    draw() {
      fill(drawBytes);
      let value = 0;
      for (const byte of drawBytes) value = value * 256 + byte;
      return value / 2 ** 48;
    },
  };
}

/** A random secret of `length` bytes. */
export function randomSecret(length: number): Buffer {
  return randomBytes(length);
}

/** Base62 of 20 bytes as five 32-bit words, least digit last; BigInt costs six times as much here. */
function encodeBase62(bytes: Uint8Array): string {
  const words = [0, 0, 0, 0, 0];
  for (let i = 0; i < 5; i++) {
    const at = i * 4;
    words[i] =
      (bytes[at] ?? 0) * 2 ** 24 +
      (bytes[at + 1] ?? 0) * 2 ** 16 +
      (bytes[at + 2] ?? 0) * 2 ** 8 +
      (bytes[at + 3] ?? 0);
  }
  let text = '';
  for (let digit = 0; digit < ID_LENGTH; digit++) {
    let remainder = 0;
    for (let i = 0; i < 5; i++) {
      const value = remainder * 2 ** 32 + (words[i] ?? 0);
      const quotient = Math.floor(value / 62);
      remainder = value - quotient * 62;
      words[i] = quotient;
    }
    text = ALPHABET[remainder] + text;
  }
  return text;
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
    bytes.set(pool.subarray(offset, offset + bytes.length));
    offset += bytes.length;
  };
}
