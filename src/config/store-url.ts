import type { Parsed } from './parsers.ts';

export interface StoreLocation {
  readonly kind: 'sqlite';
  /** A file, or `:memory:`. */
  readonly path: string;
}

/** Where a store URL points: `sqlite:./posthorn.db`, `sqlite:/var/lib/posthorn.db`, `sqlite::memory:`. */
export function parseStoreUrl(url: string): Parsed<StoreLocation> {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/i.exec(url) ?? [];
  if (scheme === undefined) return { refused: `must begin with sqlite:, for example sqlite:${url || './posthorn.db'}` };
  if (scheme.toLowerCase() !== 'sqlite') {
    return {
      refused: `names a "${scheme}:" store, and this version knows sqlite: only, for example sqlite:./posthorn.db`,
    };
  }
  // Many write a second and third slash from habit: sqlite:///var/lib/posthorn.db.
  const path = rest.startsWith('//') ? rest.slice(2) : rest;
  if (path === '' || path.endsWith('/')) return { refused: 'must name a file after sqlite:, or sqlite::memory:' };
  if (path.includes('\0')) return { refused: 'must not contain a NUL character' };
  return { value: { kind: 'sqlite', path } };
}
