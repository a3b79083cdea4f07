import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Payload, toPayloadBytes } from './payload.ts';

const LOC = ['body', 'payload'];
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe('toPayloadBytes', () => {
  it('keeps text and bytes exactly, and prints an object once', () => {
    const text = '{ "n": 1.0, "big": 12345678901234567890 }';
    expect(textOf(toPayloadBytes(text, LOC))).toBe(text);
    expect(textOf(toPayloadBytes(Buffer.from(text), LOC))).toBe(text);
    expect(textOf(toPayloadBytes({ n: 1 }, LOC))).toBe('{"n":1}');
  });

  it('gives every object back, over a buffer that holds nothing else and is nobody else’s', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        for (const given of [value, text, Buffer.from(text)]) {
          const bytes = toPayloadBytes(given, LOC);
          expect(textOf(bytes)).toBe(text);
          expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
        }
      }),
    );
    const given = Buffer.from('{"a":1}');
    const bytes = toPayloadBytes(given, LOC);
    given.fill(0);
    expect(textOf(bytes)).toBe('{"a":1}');
  });

  it.each<[string, unknown]>([
    ['a list', [1]],
    ['a date', new Date(0)],
    ['a function', () => 1],
    ['a promise, though it prints as an object', Promise.resolve({ a: 1 })],
    ['a map, though it prints as an object', new Map([['a', 1]])],
    ['nothing', undefined],
    ['null', null],
    ['a number', 5],
    ['text that is no JSON', '{a:1}'],
    ['text of a list', '[]'],
    ['text of null', 'null'],
    ['empty text', ''],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
    ['bytes of a number', Buffer.from('5')],
    ['an object that cannot be printed', { big: 1n }],
  ])('ALL-06 refuses %s and says where', (_, payload) => {
    expect(() => toPayloadBytes(payload as Payload, LOC)).toThrow(
      expect.objectContaining({ code: 'validation', issues: [expect.objectContaining({ loc: LOC })] }),
    );
  });
});
