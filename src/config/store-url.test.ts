import { expect, it } from 'vitest';
import { parseStoreUrl, withoutPassword } from './store-url.ts';

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

it.each([
  '',
  'sqlite:',
  'sqlite://',
  'mysql://x/y',
  'postgres://',
  'postgres://host',
  'postgres://u:p@h:x/db',
  'redis:6379',
  './posthorn.db',
  'sqlite:a\0b',
])('%j is refused', (url) => {
  expect(parseStoreUrl(url)).toHaveProperty('refused');
});

it.each(['postgres://me:pw@db.internal:5433/posthorn?schema=hooks', 'postgresql://db/posthorn'])(
  '%s is a database on a server',
  (url) => {
    expect(parseStoreUrl(url)).toEqual({ value: { kind: 'postgres', url } });
  },
);

it.each([
  ['postgres://me:hunter2@h:5432/db', 'postgres://me:***@h:5432/db'],
  ['postgres://me:hunter2@x@h:5432/db', 'postgres://me:***@h:5432/db'],
  ['postgres://me:hunter2/@h:port/db', 'postgres://me:***@h:port/db'],
  ['postgres://h/db?user=me&password=hunter2&sslmode=require', 'postgres://h/db?user=me&password=***&sslmode=require'],
  ['postgres://me@h/db', 'postgres://me@h/db'],
  ['sqlite:./a:b@c.db', 'sqlite:./a:b@c.db'],
])('%s is shown as %s', (url, shown) => {
  expect(withoutPassword(url)).toBe(shown);
});

it('what is refused is said without the password', () => {
  for (const url of ['postgres://me:hunter2@h:x/db', 'postgres://me:hunter2@h', 'mysql://me:hunter2@h/db']) {
    expect(JSON.stringify(parseStoreUrl(url))).not.toContain('hunter2');
  }
});
