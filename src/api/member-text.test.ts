import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memberText } from './member-text.ts';

const textOf = (json: string, name: string): string | undefined => {
  const bytes = memberText(Buffer.from(json), name);
  return bytes && Buffer.from(bytes).toString();
};

describe('memberText', () => {
  it('keeps what parsing and printing would change', () => {
    const payload = '{ "n": 12345678901234567890, "x":1.0,"é":"\\u00e9 }]," , "a":[ {"}":"\\""} ] }';
    expect(textOf(`{"eventType":"a","payload": ${payload} ,"z":1}`, 'payload')).toBe(payload);
  });

  it('finds the last member of the name, however its key is written, and no inner one', () => {
    expect(textOf('{"a":{"payload":1},"payload":2,"pay\\u006coad":{"b":3}}', 'payload')).toBe('{"b":3}');
    expect(textOf('{"a":{"payload":1}}', 'payload')).toBeUndefined();
    expect(textOf('{}', 'payload')).toBeUndefined();
    expect(textOf('[{"payload":1}]', 'payload')).toBeUndefined();
  });

  it('finds the end of strings of any length, whatever is escaped in them', () => {
    const text = fc.array(fc.constantFrom('\\', '"', 'x', '}', '\\\\', 'a long piece of plain text '), {
      maxLength: 90,
    });
    fc.assert(
      fc.property(text, text, (first, second) => {
        const payload = JSON.stringify({ [first.join('')]: [second.join(''), first.join('')] });
        expect(textOf(`{"a":${JSON.stringify(second.join(''))},"payload":${payload},"z":1}`, 'payload')).toBe(payload);
      }),
      { numRuns: 500 },
    );
  });

  it('gives bytes over a buffer of their own, because they cross threads', () => {
    const bytes = memberText(Buffer.from('{"payload":{"a":1}}'), 'payload');
    expect(bytes?.buffer.byteLength).toBe(7);
  });

  it('agrees with JSON.parse on every object, printed tightly or with spaces', () => {
    const key = fc.oneof(fc.constantFrom('payload', 'data'), fc.string({ unit: 'binary' }), fc.string());
    const object = fc.dictionary(key, fc.jsonValue());
    const isAscii = (name: string) => /^[\x20-\x7e]*$/.test(name);
    fc.assert(
      fc.property(object, fc.constantFrom(undefined, 2, '\t'), (value, space) => {
        for (const name of ['payload', 'data', ...Object.keys(value).filter(isAscii)]) {
          const text = textOf(JSON.stringify(value, null, space), name);
          const expected = JSON.stringify(value[name]);
          if (Object.hasOwn(value, name)) expect(JSON.stringify(JSON.parse(text ?? ''))).toBe(expected);
          else expect(text).toBeUndefined();
        }
      }),
    );
  });
});
