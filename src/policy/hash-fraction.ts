/**
 * A hash of `text` as a fraction in [0, 1) with 53 significant bits: the same on every machine and in every browser, so
 * that two nodes (or a preview and the engine) compute the same jitter for the same attempt.
 *
 * Two 32-bit lanes over the UTF-16 code units with different multipliers, each stirred by the other through murmur3's
 * finalizer. Only spread matters here; nothing secret depends on it.
 */
export function hashFraction(text: string): number {
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x85ebca6b);
    // FNV multiplies upwards only: without this the low bits would never hear of the high ones.
    high ^= high >>> 15;
    low ^= low >>> 13;
  }
  high = stir(high ^ Math.imul(low, 0x27d4eb2f));
  low = stir(low ^ Math.imul(high, 0x165667b1));
  return ((high >>> 0) * 2 ** 21 + (low >>> 11)) / 2 ** 53;
}

function stir(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
