// `npm run test:matrix`: the tests of the engine and the API on PostgreSQL, and on PostgreSQL with BullMQ. `npm test` runs
// them on SQLite. Arguments go to vitest instead of the files: `npm run test:matrix -- test/compat/svix-sdk.test.ts`.
import { ensurePrograms } from './services/ensure-programs.mjs';
import { bin, fail, runNode, say } from './steps.mjs';

const STORES = ['postgres', 'postgres+bullmq'];
const FILES = ['src/engine', 'src/api', 'test/compat/svix-sdk.test.ts'];

const complaints = await ensurePrograms();
if (complaints.length > 0) fail(complaints.join('\n'));

const given = process.argv.slice(2);
const failed = [];
for (const store of STORES) {
  say(`running the tests on ${store} …`);
  const env = { ...process.env, POSTHORN_TEST_STORE: store };
  const files = given.length > 0 ? given : FILES;
  if ((await runNode(bin('vitest/vitest.mjs'), ['run', ...files], { env })) !== 0) failed.push(store);
}
if (failed.length > 0) fail(`failed on ${failed.join(', ')}`);
