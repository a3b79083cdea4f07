import { readFileSync } from 'node:fs';
import { fail } from './steps.mjs';

/** One clear line instead of a syntax error deep inside a dependency. */
export function ensureNode() {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const [major, minor] = engines.node.replace('>=', '').split('.').map(Number);
  const [ourMajor, ourMinor] = process.versions.node.split('.').map(Number);
  if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) return;
  fail(
    `Node ${process.versions.node} is too old: install Node ${major}.${minor} or newer from nodejs.org and try again.`,
  );
}
