// `npm test`: whatever is missing is installed and built, then every check and every test runs, and a count ends it.
// The tests bring their own PostgreSQL and Redis (services.mjs); their programs are fetched when the machine has none.
// Arguments go to vitest: `npm test -- src/policy`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepare } from './prepare.mjs';
import { ensurePrograms } from './services/ensure-programs.mjs';
import { bin, runNode, say } from './steps.mjs';

const CHECKS = [
  { name: 'format and lint', program: '@biomejs/biome/bin/biome', args: ['check', '--error-on-warnings'] },
  { name: 'types', program: 'typescript/bin/tsc', args: ['--noEmit'] },
  { name: 'lint with types', program: 'eslint/bin/eslint.js', args: ['--max-warnings=0', '.'] },
  { name: 'unused code', program: 'knip/bin/knip.js', args: [] },
];

await prepare();

const failed = [];
for (const { name, program, args } of CHECKS) {
  say(`checking: ${name} …`);
  const exitCode = await runNode(bin(program), args);
  if (exitCode >= 128) process.exit(exitCode);
  if (exitCode !== 0) failed.push(name);
}

const complaints = await ensurePrograms();
for (const complaint of complaints) say(complaint);
if (complaints.length > 0) failed.push('servers for the tests');

say('running the tests …');
const { exitCode, passedTests, failedTests } = await runTests(process.argv.slice(2));
if (failed.length > 0) say(`failed checks: ${failed.join(', ')}`);
process.stdout.write(`${passedTests} passed, ${failedTests + failed.length} failed\n`);
process.exitCode = exitCode || (failed.length > 0 ? 1 : 0);

async function runTests(args) {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-test-'));
  const report = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const exitCode = await runNode(bin('vitest/vitest.mjs'), ['run', ...reporters, ...args]);
    return { exitCode, ...count(report, exitCode) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A file that does not load, or an error outside of any test, fails the run without a failed test: it counts as one. */
function count(report, exitCode) {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const broken = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
    return { passedTests: numPassedTests, failedTests: Math.max(numFailedTests + broken, exitCode === 0 ? 0 : 1) };
  } catch {
    return { passedTests: 0, failedTests: 1 };
  }
}
