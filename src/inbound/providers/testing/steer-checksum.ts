import { crc32 } from 'node:zlib';

const PLACES = 64;

/**
 * A text between two others that gives the whole a CRC-32 of one's choice. The checksum is linear: each digit that turns from
 * 0 to 1 changes it by a number of its own, whatever the others are, and some of 64 such numbers add up to any difference.
 */
export function steerChecksum(before: string, after: string, wanted: number): string {
  const digits = (ones: bigint) => ones.toString(2).padStart(PLACES, '0');
  const checksum = (ones: bigint) => crc32(before + digits(ones) + after);
  const plain = checksum(0n);
  /** By its highest bit: what changes the checksum by it, and the digits that do. */
  const basis = new Map<number, { readonly change: number; readonly ones: bigint }>();
  const reduce = (change: number, ones: bigint): { change: number; ones: bigint } => {
    const known = change === 0 ? undefined : basis.get(Math.clz32(change));
    return known === undefined ? { change, ones } : reduce((change ^ known.change) >>> 0, ones ^ known.ones);
  };
  for (let place = 0; place < PLACES; place++) {
    const found = reduce((checksum(1n << BigInt(place)) ^ plain) >>> 0, 1n << BigInt(place));
    if (found.change !== 0) basis.set(Math.clz32(found.change), found);
  }
  return before + digits(reduce((wanted ^ plain) >>> 0, 0n).ones) + after;
}
