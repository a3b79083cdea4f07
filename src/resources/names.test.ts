import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMetadata, checkName, checkUid } from './names.ts';

describe('names', () => {
  it('are letters, digits, "-", "_" and ".", 1 to 256 of them, and nothing else', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.stringMatching(/^[\w.-]{0,300}$/)),
        (name) => {
          const good = /^[a-zA-Z0-9\-_.]{1,256}$/.test(name) && !name.includes('\n');
          if (good) expect(checkName(name, ['body'])).toBe(name);
          else expect(() => checkName(name, ['body'])).toThrow('1 to 256');
        },
      ),
    );
    expect(() => checkName('a\n', ['body'])).toThrow();
  });

  it('that are uids do not look like the ids of their kind', () => {
    expect(() => checkUid('ep_x', 'ep', ['uid'])).toThrow('ep_');
    expect(checkUid('app_x', 'ep', ['uid'])).toBe('app_x');
  });
});

describe('metadata', () => {
  it('is counted in bytes, not in characters', () => {
    expect(checkMetadata({ a: 'x'.repeat(4088) }, [])).toEqual({ a: 'x'.repeat(4088) });
    expect(() => checkMetadata({ a: 'é'.repeat(2045) }, [])).toThrow('4096 bytes');
  });
});
