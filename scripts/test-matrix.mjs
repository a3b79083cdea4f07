// `npm run test:matrix`: only those tests that run on several stores (test/store-matrix.ts), on PostgreSQL and on
// PostgreSQL with BullMQ. `npm test` runs them too, beside everything on SQLite. Arguments go to vitest.
import { ensurePrograms } from './services/ensure-programs.mjs';
import { bin, fail, runNode } from './steps.mjs';

const complaints = await ensurePrograms();
if (complaints.length > 0) fail(complaints.join('\n'));
const projects = ['postgres', 'postgres+bullmq'].flatMap((name) => ['--project', name]);
process.exitCode = await runNode(bin('vitest/vitest.mjs'), ['run', ...projects, ...process.argv.slice(2)]);
