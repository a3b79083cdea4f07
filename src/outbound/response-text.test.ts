import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CappedBody } from './capped-body.ts';
import { responseText } from './response-text.ts';

describe('responseText', () => {
  it('is empty without a body', () => expect(responseText(undefined, false, undefined)).toBe(''));

  it('keeps UTF-8 and replaces NUL, which PostgreSQL cannot store', () => {
    expect(responseText(Buffer.from('grüße\0 €'), false, undefined)).toBe('grüße\uFFFD €');
  });

  it('drops the character that the cap has cut in two, and only that', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.nat(), (text, cut) => {
        const bytes = Buffer.from(text.replaceAll('\0', 'x'));
        const kept = responseText(bytes.subarray(0, cut % (bytes.length + 1)), true, undefined);
        expect(bytes.toString('utf8').startsWith(kept)).toBe(true);
        expect(Buffer.byteLength(kept)).toBeGreaterThan((cut % (bytes.length + 1)) - 4);
      }),
    );
  });

  it('reads printable Latin-1 as such and notes what is binary', () => {
    expect(responseText(Buffer.from('Schlüssel fehlt\r\n', 'latin1'), false, undefined)).toBe('Schlüssel fehlt\r\n');
    expect(responseText(Buffer.from([0xff, 0xd8, 0x00, 0x01]), false, undefined)).toBe(
      '[binary, 4 bytes, not decoded]',
    );
  });

  it('never decodes a content encoding', () => {
    expect(responseText(Buffer.from('abc'), false, 'br')).toBe('[br, 3 bytes, not decoded]');
    expect(responseText(Buffer.from('abc'), true, 'gzip\u0007]')).toBe('[gzip, more than 3 bytes, not decoded]');
    expect(responseText(Buffer.from('abc'), false, 'Identity')).toBe('abc');
  });
});

describe('CappedBody', () => {
  it('keeps exactly the first bytes, however they arrive', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 })),
        fc.integer({ min: 1, max: 50 }),
        (chunks, cap) => {
          const body = new CappedBody(cap);
          const all = Buffer.concat(chunks);
          const within = chunks.map((chunk) => Buffer.from(chunk)).every((chunk) => body.add(chunk));
          expect(within).toBe(all.length <= cap);
          expect(body.bytes() ?? Buffer.alloc(0)).toEqual(all.subarray(0, cap));
        },
      ),
    );
  });
});
