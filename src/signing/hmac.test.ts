import { createHmac, createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHmacSha256 } from './hmac.ts';

const KEY = fc.uint8Array({ minLength: 1, maxLength: 150 });
const TEXT = fc.string({ unit: 'binary', maxLength: 300 });

describe('HMAC-SHA256', () => {
  it("is Node's own for keys shorter and longer than a block, and contents of any length", () => {
    const payload = fc.oneof(
      fc.uint8Array({ maxLength: 2000 }),
      fc.uint8Array({ minLength: 15_900, maxLength: 17_000 }),
    );
    fc.assert(
      fc.property(KEY, TEXT, payload, TEXT, (key, before, content, after) => {
        const expected = createHmac('sha256', key).update(before).update(content).update(after).digest();
        const hmac = createHmacSha256(createSecretKey(key));
        expect(hmac.bytes([before, content, after])).toEqual(expected);
        expect(hmac.base64([before, content, after])).toBe(expected.toString('base64'));
      }),
      { numRuns: 300 },
    );
  });

  it('leaves nothing of one content in the next, nor of one key', () => {
    const [one, two] = ['first', 'second key'].map((key) => createHmacSha256(createSecretKey(Buffer.from(key))));
    const long = one?.bytes(['a.1.', Buffer.alloc(1000, 1)]);
    two?.bytes(['b.2.', Buffer.alloc(10, 2)]);
    expect(one?.bytes(['a.1.', Buffer.alloc(1000, 1)])).toEqual(long);
  });

  it('RFC 4231 test case 2', () => {
    const mac = createHmacSha256(createSecretKey(Buffer.from('Jefe'))).bytes([
      'what do ya want ',
      Buffer.from('for nothing?'),
    ]);
    const expected = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
    expect(mac.toString('hex')).toBe(expected);
  });
});
