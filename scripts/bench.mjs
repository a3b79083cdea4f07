// `npm run bench`: whatever is missing is installed and built, then the measurements run. Arguments go to bench/run.mjs.
import { prepare } from './prepare.mjs';
import { ensurePrograms } from './services/ensure-programs.mjs';
import { runNode, say } from './steps.mjs';

await prepare();
for (const complaint of await ensurePrograms()) say(complaint);
process.exitCode = await runNode('bench/run.mjs', process.argv.slice(2));
