// `npm run test:kills -- 1000`: a receiving program is killed that often while signed events come in, half of the times on
// SQLite and half on PostgreSQL. `npm test` does a few. Nothing that fails is tried again here.
import { prepare } from './prepare.mjs';
import { ensurePrograms } from './services/ensure-programs.mjs';
import { bin, fail, runNode } from './steps.mjs';

const [kills = '1000', ...more] = process.argv.slice(2);
if (!/^[1-9]\d{0,5}$/.test(kills) || more.length > 0) fail('say how many times: npm run test:kills -- 1000');
await prepare();
const complaints = await ensurePrograms();
if (complaints.length > 0) fail(complaints.join('\n'));
const args = ['run', '--project', 'sqlite', '--retry=0', 'test/crash/receiving.test.ts'];
const env = { ...process.env, POSTHORN_TEST_KILLS: kills };
process.exitCode = await runNode(bin('vitest/vitest.mjs'), args, { env });
