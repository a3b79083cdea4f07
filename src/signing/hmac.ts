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

/** What is signed, piece by piece; text is UTF-8. */
export type Content = readonly (string | Uint8Array)[];

export interface HmacSha256 {
  bytes(content: Content): Buffer;
  base64(content: Content): string;
}

export function createHmacSha256(key: KeyObject): HmacSha256 {
  const inner = pad(key, 0x36);
  const outer = Buffer.concat([pad(key, 0x5c), Buffer.alloc(DIGEST_BYTES)]);

  function digest(content: Content, encoding: 'binary' | 'base64'): string {
    if (lengthAtMost(content) > MAX_COPIED_BYTES) return streamed(key, content, encoding);
    scratch.set(inner, 0);
    let end = BLOCK_BYTES;
    for (const piece of content) end += append(piece, end);
    outer.write(hash('sha256', scratch.subarray(0, end), 'binary'), BLOCK_BYTES, 'latin1');
    return hash('sha256', outer, encoding);
  }

  return {
    // By way of a string: a buffer that Node makes for 32 bytes costs as much as the hash does.
    bytes: (content) => Buffer.from(digest(content, 'binary'), 'latin1'),
    base64: (content) => digest(content, 'base64'),
  };
}

/** Without reading it: no character of a string takes more than three bytes. */
function lengthAtMost(content: Content): number {
  let bytes = 0;
  for (const piece of content) bytes += typeof piece === 'string' ? 3 * piece.length : piece.length;
  return bytes;
}

/** Answers how many bytes it was. */
function append(piece: string | Uint8Array, at: number): number {
  if (typeof piece === 'string') return scratch.write(piece, at);
  scratch.set(piece, at);
  return piece.length;
}

function streamed(key: KeyObject, content: Content, encoding: 'binary' | 'base64'): string {
  const digest = createHmac('sha256', key);
  for (const piece of content) digest.update(piece);
  return digest.digest(encoding);
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
