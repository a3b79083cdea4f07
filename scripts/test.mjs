// `npm test`: whatever is missing is installed and built, then every check and every test runs, and a count ends it. The
// checks run beside the tests, which leave a core idle while they wait; what a check has to say comes when the tests are over.
// The tests bring their own PostgreSQL and Redis (services.mjs); their programs are fetched when the machine has none.
// Arguments go to vitest: `npm test -- src/policy`.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
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
const complaints = await ensurePrograms();
for (const complaint of complaints) say(complaint);
if (complaints.length > 0) failed.push('servers for the tests');

const folder = mkdtempSync(join(tmpdir(), 'posthorn-test-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

say(`running the tests, and beside them the checks: ${CHECKS.map(({ name }) => name).join(', ')} …`);
const checking = runChecks();
const { exitCode, passedTests, failedTests } = await runTests(process.argv.slice(2));
for (const { name, exitCode: code, said } of await checking) {
  if (code === 0) continue;
  failed.push(name);
  say(`${name}:`);
  process.stdout.write(said);
}
if (failed.length > 0) say(`failed checks: ${failed.join(', ')}`);
process.stdout.write(`${passedTests} passed, ${failedTests + failed.length} failed\n`);
process.exitCode = exitCode || (failed.length > 0 ? 1 : 0);

/** One after the other, behind the tests in the line for a core; answers how each ended and what it said. */
async function runChecks() {
  const results = [];
  for (const { name, program, args } of CHECKS) {
    const output = join(folder, 'check.txt');
    const file = openSync(output, 'w');
    const onStart = ({ pid }) => setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
    const exitCode = await runNode(bin(program), args, { stdio: ['ignore', file, file], onStart });
    closeSync(file);
    results.push({ name, exitCode, said: readFileSync(output, 'utf8') });
    if (exitCode >= 128) break;
  }
  return results;
}

async function runTests(args) {
  const report = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const exitCode = await runNode(bin('vitest/vitest.mjs'), ['run', ...reporters, ...args]);
  return { exitCode, ...count(report, exitCode) };
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
