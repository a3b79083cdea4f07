import { validateHeaderName, validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkHeaders, mergeHeaders, redactHeaders } from './endpoint-headers.ts';

const NAME = fc.stringMatching(/^X-[A-Za-z0-9]{1,8}$/);

describe('custom headers', () => {
  it('that pass can be sent: whatever is let through, Node lets through', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string({ unit: 'binary' })), (headers) => {
        let checked: Readonly<Record<string, string>>;
        try {
          checked = checkHeaders(headers, ['headers']);
        } catch {
          return;
        }
        for (const [name, value] of Object.entries(checked)) {
          validateHeaderName(name);
          validateHeaderValue(name, value);
        }
      }),
    );
  });

  it('keep one spelling of a name after any number of merges', () => {
    const change = fc.dictionary(NAME, fc.option(fc.constantFrom('a', 'b'), { nil: null }), { maxKeys: 4 });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
        let headers: Readonly<Record<string, string>> = {};
        for (const each of changes) {
          const names = Object.keys(each).map((name) => name.toLowerCase());
          fc.pre(new Set(names).size === names.length);
          headers = mergeHeaders(headers, each, ['headers']);
          for (const [name, value] of Object.entries(each)) expect(headers[name]).toBe(value ?? undefined);
        }
        const kept = Object.keys(headers).map((name) => name.toLowerCase());
        expect(new Set(kept).size).toBe(kept.length);
      }),
    );
    expect(() => mergeHeaders({}, { 'X-A': '1', 'x-a': '2' }, ['headers'])).toThrow('twice');
  });

  it.each(['Authorization', 'authorization', 'X-API-Key', 'Cookie', 'X-Auth-Token', 'My-Secret', 'X-Auth'])(
    'do not show the value of %s',
    (name) => {
      const { headers, sensitive } = redactHeaders({ [name]: 'hidden', 'X-Other': 'shown' });
      expect(sensitive).toEqual([name]);
      expect(headers).toEqual({ [name]: '<redacted>', 'X-Other': 'shown' });
    },
  );
});
