/**
 * HMAC-SHA256 as RFC 2104 writes it down, by two one-shot hashes over prepared pads. Every delivery is signed: a Hmac
 * object of Node's is two streams and a look-up of the algorithm, and took 6 µs more of the 110 that a delivery takes on
 * its thread, garbage collection included (Node 20, 1 KB, 24 paired rounds, 2026-11-16).
 */
import { createHmac, hash, type KeyObject } from 'node:crypto';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** What is longer is copied for more than it saves. */
const MAX_COPIED_BYTES = 16 * 1024;

/** Filled and read within one call. Its first block is the key's. */
const scratch = Buffer.alloc(BLOCK_BYTES + MAX_COPIED_BYTES);

/** Base64 of the HMAC over an ASCII prefix and the payload. */
export function createHmacSha256(key: KeyObject): (prefix: string, payload: Uint8Array) => string {
  const inner = pad(key, 0x36);
  const outer = Buffer.concat([pad(key, 0x5c), Buffer.alloc(DIGEST_BYTES)]);

  return (prefix, payload) => {
    const payloadAt = BLOCK_BYTES + prefix.length;
    const end = payloadAt + payload.length;
    if (end > scratch.length) return createHmac('sha256', key).update(prefix).update(payload).digest('base64');
    scratch.set(inner, 0);
    scratch.write(prefix, BLOCK_BYTES, 'latin1');
    scratch.set(payload, payloadAt);
    outer.write(hash('sha256', scratch.subarray(0, end), 'binary'), BLOCK_BYTES, 'latin1');
    return hash('sha256', outer, 'base64');
  };
}

function pad(key: KeyObject, byte: number): Buffer {
  const bytes = key.export();
  const short = bytes.length > BLOCK_BYTES ? hash('sha256', bytes, 'buffer') : bytes;
  const block = Buffer.alloc(BLOCK_BYTES, byte);
  short.forEach((value, index) => {
    block[index] = value ^ byte;
  });
  return block;
}
