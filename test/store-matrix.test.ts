import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ON_BULLMQ, ON_POSTGRES } from './store-matrix.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TEST_STORE = 'src/testing/test-store.ts';
/** They open the stores that they are about, whatever POSTHORN_TEST_STORE says. */
const CHOOSE_THEMSELVES = [
  'src/dispatch/bullmq/',
  'src/engine/accept.test.ts',
  'src/inbound/handlers/transaction.test.ts',
];
/** The CLI is a client of the API: it sees no store. */
const CLIENTS = ['src/cli/'];

const reached = new Map<string, boolean>();

/** Whether a file, or what it imports, opens the store that POSTHORN_TEST_STORE names. */
function reachesTestStore(path: string): boolean {
  if (path === TEST_STORE) return true;
  const known = reached.get(path);
  if (known !== undefined) return known;
  reached.set(path, false);
  const text = readFileSync(join(ROOT, path), 'utf8').replaceAll(/^import type .*$/gm, '');
  const found = [...text.matchAll(/^(?:import|export|\}).* from '(\.[^']+\.ts)';$/gm)].some(([, specifier = '']) =>
    reachesTestStore(join(dirname(path), specifier)),
  );
  reached.set(path, found);
  return found;
}

const isExempt = (path: string) => [...CHOOSE_THEMSELVES, ...CLIENTS].some((prefix) => path.startsWith(prefix));

function testFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => join(folder, path));
}

describe('the store matrix', () => {
  it('ALL-07 names every test file that goes through a rig, and no other: it runs on PostgreSQL as well', () => {
    const files = ['src', 'test'].flatMap((folder) => testFiles(folder));
    const through = files.filter((path) => !isExempt(path) && reachesTestStore(path));
    expect([...ON_POSTGRES].sort()).toEqual(through.sort());
  });

  it('runs on BullMQ what it runs on PostgreSQL', () => {
    expect(ON_BULLMQ.filter((path) => !ON_POSTGRES.includes(path))).toEqual([]);
  });
});
