import { expect, it } from 'vitest';
import { parseStoreUrl } from './store-url.ts';

it.each([
  ['sqlite:./posthorn.db', './posthorn.db'],
  ['sqlite:posthorn.db', 'posthorn.db'],
  ['sqlite:/var/lib/posthorn.db', '/var/lib/posthorn.db'],
  ['sqlite:///var/lib/posthorn.db', '/var/lib/posthorn.db'],
  ['sqlite::memory:', ':memory:'],
  ['SQLite:./posthorn.db', './posthorn.db'],
])('%s is the file %s', (url, path) => {
  expect(parseStoreUrl(url)).toEqual({ value: { kind: 'sqlite', path } });
});

it.each(['', 'sqlite:', 'sqlite://', 'mysql://x/y', 'redis:6379', './posthorn.db', 'sqlite:a\0b'])(
  '%j is refused',
  (url) => {
    expect(parseStoreUrl(url)).toHaveProperty('refused');
  },
);
