/** What tells copies of an event, as it is written on a command line: `header:x-request-id`. */
import { InvalidArgumentError } from 'commander';
import type { Dedupe } from '../model/index.ts';

export function parseDedupe(text: string): Dedupe {
  const [, by, value = ''] = /^(provider|body|header|json)(?::(.+))?$/s.exec(text) ?? [];
  if ((by === 'provider' || by === 'body') && value === '') return { by };
  // As it is stored.
  if (by === 'header' && value !== '') return { by, name: value.toLowerCase() };
  if (by === 'json' && value !== '') return { by, path: value };
  throw new InvalidArgumentError('Write provider, body, header:NAME or json:PATH.');
}

export function dedupeText(dedupe: Dedupe): string {
  switch (dedupe.by) {
    case 'header':
      return `header:${dedupe.name}`;
    case 'json':
      return `json:${dedupe.path}`;
    case 'body':
    case 'provider':
      return dedupe.by;
  }
}
