import type { Parsed } from './parsers.ts';

export type StoreLocation =
  /** A file, or `:memory:`. */
  | { readonly kind: 'sqlite'; readonly path: string }
  /** A server and a database on it; `?schema=` may name the schema. */
  | { readonly kind: 'postgres'; readonly url: string };

const EXAMPLES = 'sqlite:./posthorn.db or postgres://user:password@host:5432/database';

/**
 * Where a store URL points: `sqlite:./posthorn.db`, `sqlite:/var/lib/posthorn.db`, `sqlite::memory:`,
 * `postgres://user:password@host:5432/database`.
 */
export function parseStoreUrl(url: string): Parsed<StoreLocation> {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/i.exec(url) ?? [];
  if (scheme === undefined)
    return { refused: `must begin with sqlite: or postgres:, for example sqlite:${url || './posthorn.db'}` };
  switch (scheme.toLowerCase()) {
    case 'sqlite':
      return sqlite(rest);
    case 'postgres':
    case 'postgresql':
      return postgres(url);
    default:
      return {
        refused: `names a "${scheme}:" store, and this version knows sqlite: and postgres: only, for example ${EXAMPLES}`,
      };
  }
}

function sqlite(rest: string): Parsed<StoreLocation> {
  // Many write a second and third slash from habit: sqlite:///var/lib/posthorn.db.
  const path = rest.startsWith('//') ? rest.slice(2) : rest;
  if (path === '' || path.endsWith('/')) return { refused: 'must name a file after sqlite:, or sqlite::memory:' };
  if (path.includes('\0')) return { refused: 'must not contain a NUL character' };
  return { value: { kind: 'sqlite', path } };
}

function postgres(url: string): Parsed<StoreLocation> {
  if (!URL.canParse(url)) {
    return {
      refused:
        'cannot be read: it must look like postgres://user:password@host:5432/database, with special characters in the password percent-encoded',
    };
  }
  const { pathname } = new URL(url);
  if (pathname.replace('/', '') === '')
    return { refused: 'must name a database: postgres://user:password@host:5432/database' };
  return { value: { kind: 'postgres', url } };
}

/** For a person to see: everything but the password, also of a URL that cannot be read. */
export function withoutPassword(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/[^:@/?]*):.*@/i, '$1:***@').replace(/([?&]password=)[^&]*/gi, '$1***');
}
