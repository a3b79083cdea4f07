// Compiles src/ into dist/ when something changed since the last time.
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled } from './ensure-installed.mjs';
import { ensureNode } from './ensure-node.mjs';
import { bin, root, runNode, say } from './steps.mjs';

const DIST = join(root, 'dist');
/** What the last good build was made from: one line a file, with its size and time. */
const STAMP = join(DIST, '.built-from');
const OTHER_INPUTS = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs'];

/** Gives the exit code: 0 when dist/ is up to date. */
export async function build() {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => join('src', path))
    .filter((path) => /\.(ts|sql)$/.test(path) && !path.endsWith('.test.ts'))
    .sort();
  const current = [...OTHER_INPUTS, ...sources].map(describeFile);
  const former = readStamp();
  if (former.join('\n') === current.join('\n')) return 0;

  say('building …');
  // A file that is gone from src must go from dist: a left-over migration would still be run.
  const kept = new Set(current.map(pathOf));
  if (!former.every((line) => kept.has(pathOf(line)))) rmSync(DIST, { recursive: true, force: true });
  rmSync(STAMP, { force: true });

  const exitCode = await runNode(bin('typescript/bin/tsc'), ['-p', 'tsconfig.build.json']);
  if (exitCode !== 0) return exitCode;
  for (const path of sources.filter((source) => source.endsWith('.sql'))) {
    const copy = join(root, path.replace(/^src/, 'dist'));
    mkdirSync(dirname(copy), { recursive: true });
    cpSync(join(root, path), copy);
  }
  chmodSync(join(DIST, 'cli', 'main.js'), 0o755);
  writeFileSync(STAMP, current.join('\n'));
  return 0;
}

function describeFile(path) {
  const { size, mtimeMs } = statSync(join(root, path));
  return `${size} ${mtimeMs} ${path}`;
}

function pathOf(line) {
  return line.split(' ').slice(2).join(' ');
}

/** Empty without a build: then nothing in dist/ is known to be left over, and nothing is trusted either. */
function readStamp() {
  try {
    return readFileSync(STAMP, 'utf8').split('\n');
  } catch {
    rmSync(DIST, { recursive: true, force: true });
    return [];
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  ensureNode();
  await ensureInstalled();
  process.exitCode = await build();
}
