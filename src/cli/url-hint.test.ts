import { expect, it } from 'vitest';
import { urlHint } from './url-hint.ts';

it('ALL-06 a server that commands do not find by themselves says how they do, and one that they find says nothing', () => {
  expect(urlHint('http://127.0.0.1:8420')).toBe('');
  expect(urlHint('http://127.0.0.1:9000')).toContain('\n  export POSTHORN_URL=http://127.0.0.1:9000\n');
});
